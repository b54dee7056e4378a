"""Certificates: the canonical form of a problem, and covers that `p2c_verify` checks."""
