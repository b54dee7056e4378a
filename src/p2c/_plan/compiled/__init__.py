"""The problem compiled for search: features cut into cells, rules as bit sets, a person placed in them, what may happen next."""
