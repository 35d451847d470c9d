"""Tests of the PrusaLink adapter."""
