"""Compiled versions of the hot loops, held to NumPy's by tests.

NumPy is the definition and the fallback. `switch` decides which of the two runs; Numba is imported
only where it pays. Modules with ``njit`` in them are imported through `switch.load` alone.
"""
