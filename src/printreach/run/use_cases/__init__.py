"""Use cases, composed: a file for each subject, used by the web role and by commands alike."""
