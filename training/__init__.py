"""Trains, calibrates, measures and exports the detector's model; no part of the package."""
