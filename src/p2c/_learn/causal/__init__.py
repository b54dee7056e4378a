"""Causal rules: suggested by data, answered by an expert, adopted into a problem once approved."""
