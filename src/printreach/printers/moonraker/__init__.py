"""Klipper through Moonraker: JSON-RPC over a WebSocket for what changes, HTTP for files."""
