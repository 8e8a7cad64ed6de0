"""Motions within limits that show the dynamics best."""
