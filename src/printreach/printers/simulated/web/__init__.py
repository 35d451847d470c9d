"""The simulated printer's own web server: site.py answers, page/ is what a browser shows."""
