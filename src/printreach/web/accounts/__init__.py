"""Pages of sign-up, sign-in and the settings of an account."""
