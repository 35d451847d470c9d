"""The detector's model by itself, as the baseline for `process`.

    python -m bench.bare_model CORE SECONDS IMAGE...

Images are decoded beforehand; then one ONNX session of one thread looks at one after another.
Prints what it did as JSON: images a second, the median of what one took, and its CPU time.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from typing import Final

from printreach.detector.preprocess import prepare
from printreach.detector.runtime import onnxruntime

WEIGHTS: Final = Path("src/printreach/detector/weights/detector.onnx")
_WARM_UP: Final = 20


@dataclass(frozen=True, slots=True)
class Bare:
    """inference_ms: the median. cpu_ms: per image."""

    images_a_second: float
    inference_ms: float
    cpu_ms: float


def measure_bare(core: int, seconds: float, images: Sequence[Path]) -> Bare:
    """Measure in a process of its own, on this core."""
    words = [sys.executable, "-m", "bench.bare_model", str(core), str(seconds), *map(str, images)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return Bare(**json.loads(done.stdout))


def _measure(seconds: float, images: Sequence[Path]) -> Bare:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(WEIGHTS.read_bytes(), options)
    batches = cycle([prepare(image.read_bytes()).pixels[None] for image in images])
    for _ in range(_WARM_UP):
        session.run(None, {"image": next(batches)})
    taken: list[float] = []
    used = time.process_time()
    began = now = time.perf_counter()
    while now < began + seconds:
        session.run(None, {"image": next(batches)})
        taken.append(time.perf_counter() - now)
        now += taken[-1]
    cpu_ms = 1e3 * (time.process_time() - used) / len(taken)
    return Bare(len(taken) / (now - began), 1e3 * statistics.median(taken), cpu_ms)


if __name__ == "__main__":
    os.sched_setaffinity(0, {int(sys.argv[1])})
    print(json.dumps(asdict(_measure(float(sys.argv[2]), [Path(one) for one in sys.argv[3:]]))))
