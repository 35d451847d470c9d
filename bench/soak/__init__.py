"""An hour of mixed ordinary load, to find leaks of the service."""
