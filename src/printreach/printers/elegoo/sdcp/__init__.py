"""SDCP version 3: the Centauri Carbon, and the boards of Mars and Saturn resin printers."""
