"""The planner, and the validator that replays its answers."""
