"""Relations between columns, as candidates from data for an expert."""
