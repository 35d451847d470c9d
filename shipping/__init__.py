"""What goes with the wheel: a bill of materials, and the licences of what it needs."""
