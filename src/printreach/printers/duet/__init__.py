"""Duet boards: RepRapFirmware 3 by itself, or beside a computer that runs DSF.

Written from the sources of both and of their web page, 3.3 to 3.6; no board was at hand.
"""
