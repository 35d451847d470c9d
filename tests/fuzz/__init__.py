"""The fuzzer's targets without the fuzzer: on its seeds, and on what it once found."""
