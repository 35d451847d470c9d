"""Fuzz: python -m fuzz [--seconds N] [TARGET ...]; each target gets that long.

What is found lies in build/fuzz/found. Once it is repaired, move it to tests/fuzz/found/TARGET/,
under a name that says what it is: from then on it is a test.
"""

import argparse
import importlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
WORK: Final = ROOT / "build" / "fuzz"
KEPT: Final = ROOT / "tests" / "fuzz" / "found"
SLOWEST_S: Final = 5
HANGS_S: Final = 300.0
"""An input that is tried again is given up after so long. It is far more than SLOWEST_S of a busy
machine, and most inputs take a millisecond."""
TOOK_TOO_LONG: Final = 70
"""libFuzzer's exit status where an input took longer than SLOWEST_S by the clock on the wall."""
MAX_MIB: Final = 1024
LONGEST_INPUT: Final = 4096


def main() -> int:
    """Run each target in a process of its own, since the fuzzer ends its process."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="for each target (%(default)s)")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--again", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    if options.here:
        _fuzz(options.targets[0], options.seconds)
        return 0
    if options.again:
        return int(_is_slow(options.targets[0], options.again.read_bytes()))
    failed = [name for name in _chosen(options.targets) if not _run(name, options.seconds)]
    if failed:
        print(f"found something in: {', '.join(failed)}; see {WORK / 'found'}", file=sys.stderr)
    return 1 if failed else 0


def _chosen(names: list[str]) -> list[str]:
    from fuzz.targets import TARGETS

    unknown = set(names) - set(TARGETS)
    if unknown:
        sys.exit(f"no target named {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    return names or list(TARGETS)


def _run(name: str, seconds: int) -> bool:
    words = [sys.executable, "-m", "fuzz", "--here", "--seconds", str(seconds), name]
    status = subprocess.run(words, cwd=ROOT, check=False).returncode
    return status == 0 or (status == TOOK_TOO_LONG and not slow_again(WORK / "found" / name))


def slow_again(folder: Path) -> list[Path]:
    """Try again what took too long of the target of that name; return what does so again.

    The rest is removed: the machine stood still, or was busy with something else.
    """
    slow = []
    for path in sorted(folder.glob("timeout-*")):
        words = [sys.executable, "-m", "fuzz", "--again", str(path), folder.name]
        try:
            status = subprocess.run(words, cwd=ROOT, check=False, timeout=HANGS_S).returncode
        except subprocess.TimeoutExpired:
            status = TOOK_TOO_LONG
        if status:
            slow.append(path)
        else:
            path.unlink()
    return slow


def _is_slow(name: str, data: bytes) -> bool:
    """Return whether the target computes for too long on this input."""
    from fuzz.targets import TARGETS

    began_s = time.process_time()
    TARGETS[name](data)
    return time.process_time() - began_s > SLOWEST_S


def _fuzz(name: str, seconds: int) -> None:
    """Fuzz one target, and end this process."""
    atheris: Any = importlib.import_module("atheris")  # installed only in the fuzzer's environment
    # The targets too: of compiled rooms the fuzzer sees no branches, and it needs some to go by.
    with atheris.instrument_imports(include=["fuzz", "printreach", "PIL"]):
        from fuzz.targets import TARGETS, seeds
    corpus, found = WORK / "corpus" / name, WORK / "found" / name
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(name)):
        (corpus / f"seed-{number}").write_bytes(seed)
    kept = KEPT / name
    words = [
        sys.argv[0],
        f"-max_total_time={seconds}",
        f"-timeout={SLOWEST_S}",
        f"-rss_limit_mb={MAX_MIB}",
        f"-max_len={LONGEST_INPUT}",
        f"-artifact_prefix={found}/",
        "-print_final_stats=1",
        "-verbosity=0",
        str(corpus),
        *([str(kept)] if kept.is_dir() else []),
    ]
    atheris.Setup(words, TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
