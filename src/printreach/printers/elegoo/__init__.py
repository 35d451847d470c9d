"""Elegoo printers: SDCP over a WebSocket, or the Centauri Carbon 2 with a broker of its own."""
