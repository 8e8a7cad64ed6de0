"""What follows from seeing a robot: identifiability, solution, statistics, result."""
