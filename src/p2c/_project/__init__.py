"""Make a problem of a stored model and a table, or of a table alone, in steps."""
