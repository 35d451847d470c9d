"""Pages for developers of apps and callers of the failure-detection API."""
