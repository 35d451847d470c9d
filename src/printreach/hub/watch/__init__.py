"""The failure watch over prints."""
