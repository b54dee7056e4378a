"""Tables as rules can speak of them: read from files, looked over, their columns typed, bounded and named."""
