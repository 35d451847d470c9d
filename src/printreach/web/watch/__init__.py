"""The failure watch of a print, as pages show and change it."""
