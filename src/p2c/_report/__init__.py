"""What a reader sees, one renderer a format."""
