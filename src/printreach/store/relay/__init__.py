"""What the relay asks of the database: agents, grants, and the events that agents report."""
