"""Pages about what a person is told, and where."""
