"""`printreach admin doctor`: checks of what a service depends on, each with what to do about it."""
