"""The Centauri Carbon 2, which is an MQTT broker."""
