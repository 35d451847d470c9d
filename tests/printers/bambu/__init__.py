"""Tests of the Bambu Lab adapter."""
