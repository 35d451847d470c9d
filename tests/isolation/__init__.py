"""Nothing of one connection reaches the printer of another, whatever anybody does."""
