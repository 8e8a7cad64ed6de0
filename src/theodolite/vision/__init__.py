"""From image files to points and poses. OpenCV finds the marks; what follows is ours.

A leaf: nothing in the core imports it, and it imports OpenCV only when used.
"""
