"""What a robot is worth: ISO 9283, and comparison with another or with itself earlier on."""
