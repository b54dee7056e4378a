"""A plan checked by the contract alone, with no code of the search."""
