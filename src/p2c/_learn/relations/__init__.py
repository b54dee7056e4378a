"""Relations between columns, proposed from data for an expert to approve: equations, orders, groups and clocks."""
