"""One folder per platform, named as in contract/platforms.py, and what the platforms share."""
