"""Plans over HTTP: a JSON service, and the workbench pages for people. It reads requests, asks and shows; no logic."""
