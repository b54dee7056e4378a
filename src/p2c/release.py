"""What is released: the version, and the name by which the package index knows it."""

__version__ = "0.2.0"

DISTRIBUTION = "p2c-recourse"
"""What to install; `p2c` on the package index is somebody else's. Import and command are `p2c`."""
