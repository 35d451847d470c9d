"""The same agent inside OctoPrint, as a plugin with the identifier `service`.

plugin.py alone imports OctoPrint. The agent runs in a thread of its own (thread.py), where a
supervisor starts it, and starts it again when its settings change. Its entry point, which OctoPrint
finds by the package's metadata, is run/octoprint_plugin.py.
"""
