"""Published figures, recomputed: one file per paper."""
