"""Tests of the Duet adapter."""
