"""A crowd of hostile strangers beside ordinary users: what the users notice of it."""
