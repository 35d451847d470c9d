"""The dashboard: a person's printers, their files and controls, and the connections to them."""
