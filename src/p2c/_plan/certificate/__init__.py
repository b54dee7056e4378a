"""Certificates: canonical problems, and covers that `p2c_verify` checks."""
