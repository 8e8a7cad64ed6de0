"""Robot programs: targets are found, corrected and put back; not a byte besides is touched."""
