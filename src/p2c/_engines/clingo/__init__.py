"""The question put to clingo, in one encoding for plans, the nearest ends and the export."""
