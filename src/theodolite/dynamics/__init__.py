"""Inertias, friction and drives from recorded torques."""
