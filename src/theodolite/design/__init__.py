"""Measurements worth taking: exciting trajectories."""
