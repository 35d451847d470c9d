"""Public pages of Live Links."""
