"""Many calibrations: Monte Carlo, fleets and what has changed over time."""
