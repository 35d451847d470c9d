"""A program with a key of Ada's, before the failure-detection API."""

from dataclasses import dataclass
from datetime import timedelta

from httpx import Response

from printreach.contract.detection_api import HTTP_STATUSES, DetectionError
from printreach.hub.detection.keys import MadeKey
from printreach.rules.detection.usage import Calls, month_of
from tests.web.world import ADA, BASE_URL, Browser, WebWorld, run

CREATE = "/api/detector/v1/createcontext"
IMAGE = b"\xff\xd8 an image \xff\xd9"
MINIMUM = timedelta(seconds=5)


@dataclass
class DetectionClient:
    """account_id: whose key it is."""

    world: WebWorld
    program: Browser
    account_id: str
    key: str

    def create(self, body: object = None, key: str | None = None) -> Response:
        """Make a context."""
        return self.program.post(
            CREATE, json={} if body is None else body, headers=self.headers(key)
        )

    def context(self, body: object = None) -> str:
        """The path of a context just made."""
        url: str = self.create(body).json()["ProcessRequestUrl"]
        return url.removeprefix(BASE_URL)

    def process(self, path: str, image: bytes = IMAGE, key: str | None = None) -> Response:
        """Send an image as programs do."""
        files = {"file": ("snapshot.jpg", image, "image/jpeg")}
        return self.program.post(path, files=files, headers=self.headers(key))

    def send(self, path: str, body: bytes, content_type: str) -> Response:
        """Send anything."""
        headers = self.headers() | {"content-type": content_type}
        return self.program.post(path, content=body, headers=headers)

    def another_key(self, account_id: str | None = None) -> str:
        made = run(
            self.program,
            lambda: self.world.services.detection_keys.make(account_id or self.account_id, ""),
        )
        assert isinstance(made, MadeKey)
        return made.api_key

    def counted(self) -> Calls:
        """The calls of this month, as they are written down."""

        async def look() -> Calls:
            services = self.world.services
            await services.detection_gate.flush()
            month = month_of(self.world.clock.now())
            return (await services.detection_usage.month(self.account_id, month)).calls

        return run(self.program, look)

    def headers(self, key: str | None = None) -> dict[str, str]:
        return {"X-API-Key": self.key if key is None else key}


def detecting(world: WebWorld, program: Browser, email: str = ADA) -> DetectionClient:
    """A program of a new account."""
    account = world.add_account(program, email)
    caller = DetectionClient(world, program, account.account_id, "")
    caller.key = caller.another_key()
    return caller


def error_of(answer: Response) -> tuple[int, str]:
    """The status and type of a refusal, whose body is as it has to be."""
    told = answer.json()
    assert list(told) == ["ErrorType", "ErrorDetails"]
    assert told["ErrorDetails"].endswith(".")
    return answer.status_code, told["ErrorType"]


def told(error: DetectionError) -> tuple[int, str]:
    """The same of the refusal that it should be."""
    return HTTP_STATUSES[error], error.value
