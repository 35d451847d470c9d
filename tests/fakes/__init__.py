"""Stand-ins for what the code asks of the outside."""
