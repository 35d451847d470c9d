"""A provider is asked as the standards say, and believed in nothing else."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import TypeVar

import pytest
from joserfc import jwt

from printreach.backends.oidc import Provider
from printreach.backends.oidc.metadata import AGAIN_AFTER, KEPT_FOR, KEPT_WITHOUT_ANSWER
from printreach.ports.signing_in import ProviderAnswer, ProviderFailure
from printreach.rules.accounts.oidc import Claims, OidcProvider, oidc_flow_secrets
from tests.fakes.clock import FakeClock
from tests.fakes.oidc_provider import CLIENT_ID, CLIENT_SECRET, FakeOidcProvider, fake_provider, key

T = TypeVar("T")
OWN = "https://printreach.example/signin/other/back"
SECRETS = oidc_flow_secrets("a" * 52)
ADA = {"sub": "1001", "email": "ada@example.org", "email_verified": True}


@pytest.fixture
def fake() -> Iterator[FakeOidcProvider]:
    with fake_provider(FakeClock()) as running:
        yield running


def asked(fake: FakeOidcProvider, work: Callable[[Provider], Awaitable[T]]) -> T:
    """Do it with a provider that knows nothing yet."""

    async def main() -> T:
        settings = OidcProvider(
            issuer=fake.issuer, client_id=CLIENT_ID, client_secret=CLIENT_SECRET, name="Example"
        )
        return await work(Provider(settings, OWN, fake.clock))

    return asyncio.run(main())


async def go(
    provider: Provider, fake: FakeOidcProvider, **answered: str
) -> Claims | ProviderFailure:
    """The whole way. answered: what the browser brings back besides, or instead."""
    address = await provider.address(SECRETS)
    assert isinstance(address, str), address
    query = dict(part.split("=") for part in fake.authorise(address).split("&"))
    given = {"code": query["code"], "state": query["state"]} | answered
    return await provider.claims(
        ProviderAnswer(
            code=given.get("code"),
            state=given["state"],
            issuer=given.get("iss"),
            error=given.get("error"),
        ),
        SECRETS,
    )


def claims(fake: FakeOidcProvider, **answered: str) -> Claims | ProviderFailure:
    return asked(fake, lambda provider: go(provider, fake, **answered))


def test_a_browser_is_sent_with_all_that_ties_the_answer_to_it(fake: FakeOidcProvider) -> None:
    address = asked(fake, lambda provider: provider.address(SECRETS))

    assert isinstance(address, str)
    for part in (
        f"{fake.issuer}/authorise?tenant=a&response_type=code",
        f"client_id={CLIENT_ID}",
        "redirect_uri=https%3A%2F%2Fprintreach.example%2Fsignin%2Fother%2Fback",
        f"state={SECRETS.state}",
        f"nonce={SECRETS.nonce}",
        f"code_challenge={SECRETS.code_challenge}&code_challenge_method=S256",
    ):
        assert part in address
    assert SECRETS.verifier not in address


def test_a_person_is_known_by_subject_and_by_an_address_that_is_vouched_for(
    fake: FakeOidcProvider,
) -> None:
    fake.person = ADA

    assert claims(fake) == Claims("1001", "ada@example.org")


@pytest.mark.parametrize("verified", [False, "false", None, 1, "yes", []])
def test_an_address_that_nobody_vouches_for_is_as_good_as_none(
    fake: FakeOidcProvider, verified: object
) -> None:
    fake.person = ADA | {"email_verified": verified}

    assert claims(fake) == Claims("1001", None)


@pytest.mark.parametrize("email", ["no address", "", "a b@example.org", 7, None])
def test_what_is_no_address_is_none(fake: FakeOidcProvider, email: object) -> None:
    fake.person = ADA | {"email": email}

    assert claims(fake) == Claims("1001", None)


def test_an_address_may_stand_on_the_page_about_the_person(fake: FakeOidcProvider) -> None:
    fake.person, fake.user_info = {"sub": "1001"}, ADA

    assert claims(fake) == Claims("1001", "ada@example.org")


def test_a_page_about_somebody_else_is_not_believed(fake: FakeOidcProvider) -> None:
    fake.person, fake.user_info = {"sub": "1001"}, ADA | {"sub": "1002"}

    assert claims(fake) is ProviderFailure.REFUSED


@pytest.mark.parametrize("subject", ["", "x" * 256, "a\nb"])
def test_a_token_about_nobody_is_refused(fake: FakeOidcProvider, subject: str) -> None:
    fake.person = ADA | {"sub": subject}

    assert claims(fake) is ProviderFailure.REFUSED


@pytest.mark.parametrize(
    "answered",
    [
        {"error": "access_denied"},
        {"code": ""},
        {"code": "made-up"},
        {"iss": "https://another.example"},
    ],
)
def test_what_a_browser_brings_has_to_be_of_this_provider(
    fake: FakeOidcProvider, answered: dict[str, str]
) -> None:
    assert claims(fake, **answered) is ProviderFailure.REFUSED


def test_a_provider_that_names_itself_in_every_answer_has_to(fake: FakeOidcProvider) -> None:
    fake.metadata = {"authorization_response_iss_parameter_supported": True}

    assert claims(fake) is ProviderFailure.REFUSED
    assert isinstance(claims(fake, iss=fake.issuer), Claims)


def test_the_client_proves_itself_in_the_way_that_the_provider_takes(
    fake: FakeOidcProvider,
) -> None:
    fake.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}

    assert isinstance(claims(fake), Claims)


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://another.example"},
        {"token_endpoint": "ftp://id.example/token"},
        {"token_endpoint": "http://user:pw@127.0.0.1/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "https://id.example/a b"},
        {"authorization_endpoint": "https://id.example/\r\nX: y"},
        {"jwks_uri": "not an address"},
        {"jwks_uri": 7},
        {"token_endpoint": None},
    ],
)
def test_a_configuration_that_cannot_be_is_not_used(
    fake: FakeOidcProvider, metadata: dict[str, object]
) -> None:
    fake.metadata = metadata

    assert asked(fake, lambda one: one.address(SECRETS)) is ProviderFailure.UNREACHABLE


def test_a_provider_that_is_down_is_said_to_be(fake: FakeOidcProvider) -> None:
    fake.is_down = True

    assert asked(fake, lambda one: one.address(SECRETS)) is ProviderFailure.UNREACHABLE


def test_all_who_wait_for_a_provider_that_is_down_are_told_with_the_first(
    fake: FakeOidcProvider,
) -> None:
    async def crowd(provider: Provider) -> list[object]:
        fake.is_down = True
        told: list[object] = [*await asyncio.gather(*(provider.address(SECRETS) for _ in range(5)))]
        assert fake.asked == ["/.well-known/openid-configuration"]
        fake.is_down = False
        fake.clock.advance(AGAIN_AFTER)
        assert isinstance(await provider.address(SECRETS), str)
        return told

    assert asked(fake, crowd) == [ProviderFailure.UNREACHABLE] * 5


def test_what_a_provider_says_of_itself_is_asked_once_an_hour(fake: FakeOidcProvider) -> None:
    async def twice(provider: Provider) -> None:
        await asyncio.gather(*(provider.address(SECRETS) for _ in range(5)))
        assert len(fake.asked) == 2
        fake.clock.advance(KEPT_FOR)
        await provider.address(SECRETS)

    asked(fake, twice)
    assert fake.asked == ["/.well-known/openid-configuration", "/keys"] * 2


def test_a_clock_that_is_put_back_lets_a_provider_be_asked_again(fake: FakeOidcProvider) -> None:
    async def hours_ahead(provider: Provider) -> list[object]:
        fake.clock.advance(timedelta(hours=2))
        fake.is_down = True
        found: list[object] = [await provider.address(SECRETS)]
        fake.is_down = False
        fake.clock.advance(-timedelta(hours=2))
        return [*found, await provider.address(SECRETS)]

    down, up = asked(fake, hours_ahead)
    assert down is ProviderFailure.UNREACHABLE
    assert isinstance(up, str)


def test_a_provider_whose_pages_fail_is_known_for_a_day(fake: FakeOidcProvider) -> None:
    async def later(provider: Provider) -> list[object]:
        found: list[object] = [await provider.address(SECRETS)]
        fake.is_down = True
        for wait in (KEPT_FOR, KEPT_WITHOUT_ANSWER):
            fake.clock.advance(wait)
            found.append(await provider.address(SECRETS))
        return found

    first, second, third = asked(fake, later)
    assert first == second
    assert third is ProviderFailure.UNREACHABLE


def test_a_new_key_of_the_provider_is_known_at_once_and_an_old_one_no_more(
    fake: FakeOidcProvider,
) -> None:
    def by_second(claims: dict[str, object]) -> str:
        return jwt.encode({"alg": "RS256", "kid": "second"}, claims, key("second"))

    async def turn(provider: Provider) -> list[bool]:
        good = [isinstance(await go(provider, fake), Claims)]
        fake.clock.advance(timedelta(minutes=2))
        by_first, fake.sign = fake.sign, by_second
        fake.keys = [key("second").as_dict(is_private=False)]
        good.append(isinstance(await go(provider, fake), Claims))
        fake.sign = by_first
        good.append(isinstance(await go(provider, fake), Claims))
        return good

    assert asked(fake, turn) == [True, True, False]


def test_tokens_with_made_up_keys_do_not_have_the_provider_asked_again_and_again(
    fake: FakeOidcProvider,
) -> None:
    fake.sign = lambda claims: jwt.encode({"alg": "RS256", "kid": "evil"}, claims, key("evil"))

    async def often(provider: Provider) -> list[object]:
        return [await go(provider, fake) for _ in range(5)]

    assert asked(fake, often) == [ProviderFailure.REFUSED] * 5
    assert fake.asked.count("/keys") == 1


def test_keys_that_cannot_check_a_signature_are_passed_over(fake: FakeOidcProvider) -> None:
    public = key("first").as_dict(is_private=False)
    others: list[dict[str, object]] = [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "first"},
        {"kty": "unheard of"},
        {"kty": "RSA", "n": "!", "e": "AQAB", "kid": "first"},
        {"kty": "RSA"},
        {},
        {**key("second").as_dict(is_private=False), "use": "enc", "kid": "first"},
    ]
    fake.keys = [*others, public | {"x5c": ["of no use"]}]

    assert isinstance(claims(fake), Claims)


def test_a_shared_key_among_the_providers_is_not_used(fake: FakeOidcProvider) -> None:
    fake.keys = [{"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0", "kid": "first"}]

    assert claims(fake) is ProviderFailure.REFUSED
