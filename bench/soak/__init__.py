"""An hour of mixed ordinary load, and whether the service keeps anything of it."""
