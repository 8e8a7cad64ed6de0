"""What a person or a program reads."""
