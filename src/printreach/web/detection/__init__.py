"""The failure-detection API, and the pages of its keys and their usage."""
