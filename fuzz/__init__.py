"""Coverage-guided fuzzing of the code that parses bytes from strangers: `make fuzz`.

targets.py names the targets. Each is a plain function of bytes that raises where something is
wrong, so tests run it without the fuzzer, on the seeds and on every case it ever found.
"""
