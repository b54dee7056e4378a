"""The one search: arrivals best first, over sets of actions or over states, and the bounds that keep it short."""
