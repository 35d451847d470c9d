"""Bambu Lab printers on the local network: MQTT for what they do, FTPS for files, a camera port."""
