"""Pages about people: signing up and in, and what an account's owner may change."""
