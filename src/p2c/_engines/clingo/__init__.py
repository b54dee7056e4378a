"""clingo as an engine, with one encoding for plans, nearest ends and the export."""
