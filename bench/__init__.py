"""`make bench`: the tunnel as it ships, compared with its alternatives.

docs/benchmarks.md says what is measured and how. `bench/wire.py` runs by itself.
"""
