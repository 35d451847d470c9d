"""Safe remote access to 3D printers, for apps and for people."""

__version__ = "0.1.0"
