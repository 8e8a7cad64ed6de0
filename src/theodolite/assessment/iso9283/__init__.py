"""Performance of manipulating robots as ISO 9283:1998 defines it, with confidence intervals."""
