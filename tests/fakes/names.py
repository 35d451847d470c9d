"""Names that lead where a test says."""

from collections.abc import Sequence


class FakeLookup:
    """A Lookup: what each name leads to, one answer after the other; the last one stays."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(each) for name, each in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answers = self._answers.get(host.removesuffix("."))
        if not answers:
            raise OSError("unknown")
        return answers.pop(0) if len(answers) > 1 else answers[0]
