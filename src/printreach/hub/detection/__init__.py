"""The failure-detection API: keys, contexts, and images that are admitted and scored."""
