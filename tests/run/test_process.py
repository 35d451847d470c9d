"""Memory that a body has passed through is there for its next chunk."""

import gc
import platform
import subprocess
import sys

from tests.requirements_of_tests import need

CHUNKS = 500
PROGRAM = f"""
import gc, resource
from printreach.run.process import tune_memory_for_traffic

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range({CHUNKS}):
        kept = [bytes(100_000) for _ in range(8)]
        del kept
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

tune_memory_for_traffic()
faults()
print(faults(), gc.get_threshold()[0])
"""


def test_chunks_after_each_other_take_no_new_memory_from_the_kernel() -> None:
    need("glibc", platform.libc_ver()[0] == "glibc", "only there memory goes back at once")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    faults, threshold = map(int, done.stdout.split())

    assert faults < 10 * CHUNKS  # left alone it is ten times as many
    assert threshold > gc.get_threshold()[0]


FREEZE = """
import gc
from printreach.run.process import freeze_startup_objects

kept = [[number] for number in range(1000)]
freeze_startup_objects()
print(gc.get_freeze_count(), len(gc.get_objects()))
"""


def test_what_the_start_has_made_is_not_searched_for_cycles_again() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FREEZE], capture_output=True, text=True, check=True
    )
    frozen, searched = map(int, done.stdout.split())

    assert frozen > 1000
    assert searched < 100


IMPORT = """
import gc
from printreach.run.process import importing

collections = []
gc.callbacks.append(lambda phase, _: collections.append(phase))
with importing():
    import asyncio
during = len(collections)
print(during, gc.isenabled(), gc.get_freeze_count())
"""


def test_no_cycles_are_searched_for_while_modules_are_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True
    )
    during, is_enabled, frozen = done.stdout.split()

    assert during == "0"
    assert is_enabled == "True"
    assert int(frozen) > 1000


STAND_IN = """
import sys
from printreach.run.process import importing

with importing():
    import csv
    was_loaded = hasattr(sys.modules["csv"], "__file__")
print(was_loaded, "csv" in sys.modules, csv.QUOTE_ALL, "csv" in sys.modules)
with importing():
    from gzip import decompress
print(sys.modules["gzip"].decompress is decompress)
"""


def test_what_is_seldom_used_is_imported_once_something_of_it_is_used() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STAND_IN], capture_output=True, text=True, check=True
    )
    plain, named = done.stdout.splitlines()

    assert plain == "False False 1 True"
    assert named == "True"


RETURN = """
from printreach.run.process import return_startup_memory, tune_memory_for_traffic

def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096

tune_memory_for_traffic()
kept = [bytes(2000) for _ in range(1500)]
del kept
before = resident_bytes()
return_startup_memory()
print(before - resident_bytes())
"""


def test_memory_that_the_start_has_freed_is_returned() -> None:
    need("glibc", platform.libc_ver()[0] == "glibc", "only there memory goes back at once")
    done = subprocess.run(
        [sys.executable, "-c", RETURN], capture_output=True, text=True, check=True
    )

    assert int(done.stdout) > 2_000_000  # of 3 MB; without it all of them stay
