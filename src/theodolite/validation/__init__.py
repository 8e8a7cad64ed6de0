"""Is it true? Comparisons of robots with each other and with data not seen."""
