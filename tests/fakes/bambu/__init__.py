"""A Bambu Lab printer on loopback: a real MQTT broker, a real FTPS library, and what it says.

Its messages follow what is known of these printers, which is not from their maker; an independent
client talks to it in tests/printers/bambu/test_other_client.py.
"""
