"""What happens when a part freezes, dies, loses its line or runs out of something."""
