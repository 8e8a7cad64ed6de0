"""Inertial and drive parameters from torques: built on identification as the verbs are."""
