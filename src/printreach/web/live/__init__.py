"""Live Links as strangers see them."""
