"""Causal rules: suggested by data, answered by an expert, adopted into a problem once approved."""

from p2c.learn.causal.learning import learn_causal_rules as learn_causal_rules
