"""The watch over prints, look by look."""
