"""The failure-detection API: keys, contexts, and images that are let in and scored."""
