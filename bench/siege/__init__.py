"""A crowd of hostile strangers beside ordinary users, and its effect on the users."""
