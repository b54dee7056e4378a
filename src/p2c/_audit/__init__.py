"""The audit: of everybody at once, who has no way to a yes, what stands in theirs, and whether groups differ in it."""
