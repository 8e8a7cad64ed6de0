"""Which measurements are worth taking: criteria, choice, constraints, expected errors."""
