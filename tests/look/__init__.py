"""How the pages look: every component with sample readings, in a real browser."""
