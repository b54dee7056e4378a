"""Proofs and plans in sentences, from one catalogue of phrases.

`letter` is for the person, `summary` for experts; `teller` puts both together. Reasons come from `facts` and, where a model
decides, from `model_reasons`; rules in words from `rules`, values from `sentences`, and what stands around them from `phrases`, which
reads the TOML files. `justification` is s(CASP)'s own proof. `report` shows it all.
"""
