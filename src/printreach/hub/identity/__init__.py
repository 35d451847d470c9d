"""Authentication: sign-up, sign-in, sessions, and reauthentication."""
