"""`make bench`: the tunnel as it ships, beside what people would use instead.

docs/benchmarks.md says what is measured and how. `bench/wire.py` runs by itself.
"""
