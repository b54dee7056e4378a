"""Rules out of data: FOLD-SE, rules that stand in for a model, causal candidates; and models that are read."""
