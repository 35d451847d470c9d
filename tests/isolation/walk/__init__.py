"""A random walk over the whole service in one process, and an oracle that knows whose what is."""
