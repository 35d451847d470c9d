"""Pages for developers of apps."""
