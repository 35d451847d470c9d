"""Pages about notifications and their destinations."""
