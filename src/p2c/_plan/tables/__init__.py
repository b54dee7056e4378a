"""Many people at once: routes found once for everyone whom the rules see alike, and rows, columns and frames around them."""
