"""What follows from residuals with exact derivatives. Knows no robot."""
