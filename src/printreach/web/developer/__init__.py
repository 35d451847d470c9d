"""Pages for those who build apps, and for those who call the failure-detection API."""
