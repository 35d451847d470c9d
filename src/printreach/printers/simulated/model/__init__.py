"""The printer as a simulation: no clock, no files, no network. printer.py is the whole of it."""
