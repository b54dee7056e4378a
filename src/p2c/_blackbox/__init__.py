"""Plans that the model itself confirms: reachable states, put to the model in batches, cheapest first."""
