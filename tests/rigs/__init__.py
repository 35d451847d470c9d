"""Real programs as the other side: each rig starts one, waits until it is ready, and ends it."""
