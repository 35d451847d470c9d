"""The implementations of the ports. The clock, randomness and files come in here."""
