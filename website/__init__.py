"""What makes the site from the package: pages that are generated, and links that lead out of `docs`."""
