"""The ports, made real. The clock, randomness and files come in here."""
