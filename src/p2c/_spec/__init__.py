"""Features, problems as they are written down, and rows."""
