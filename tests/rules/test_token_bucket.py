"""The token bucket of the relay's limiters."""

from printreach.rules.token_bucket import TokenBucket


def test_a_full_bucket_has_its_tokens_and_no_more() -> None:
    bucket = TokenBucket(3, 10.0, 0.0)

    assert bucket.has(0.0, 3)
    assert not bucket.has(0.0, 4)


def test_one_token_comes_back_in_each_interval_up_to_the_most() -> None:
    bucket = TokenBucket(3, 10.0, 0.0)
    bucket.reserve(0.0, 3)

    assert not bucket.has(9.0, 1)
    assert bucket.has(10.0, 1)
    assert bucket.is_full(1000.0)
    assert not bucket.has(1000.0, 4)


def test_a_reservation_of_more_than_there_is_says_how_long_to_wait() -> None:
    bucket = TokenBucket(3, 10.0, 0.0)

    assert bucket.reserve(0.0, 3) == 0.0
    assert bucket.reserve(0.0, 2) == 20.0


def test_tokens_that_were_not_used_shorten_the_wait_of_the_next() -> None:
    bucket = TokenBucket(3, 10.0, 0.0)
    bucket.reserve(0.0, 5)
    bucket.give_back(2)

    assert bucket.reserve(0.0, 1) == 10.0
