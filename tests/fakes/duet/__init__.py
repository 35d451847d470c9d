"""A Duet board that is none: RepRapFirmware's web server and DSF's, in front of one machine.

Their answers follow the sources of RepRapFirmware and DuetWebServer, 3.4 to 3.6.
"""
