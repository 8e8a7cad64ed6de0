"""The calibrated robot for others: the nearest one that a file format can carry, link by link."""
