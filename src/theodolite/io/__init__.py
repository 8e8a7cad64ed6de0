"""The edges: files in, files out. Never imported by the core."""
