"""Proofs and plans in sentences, from one catalogue of phrases."""
