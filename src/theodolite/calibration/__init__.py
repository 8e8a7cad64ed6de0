"""Geometry from measurements: one file per method, and what a user asks of them."""
