"""Pages for operators. For everybody else they do not exist."""
