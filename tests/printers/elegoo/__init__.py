"""Tests of the Elegoo adapter."""
