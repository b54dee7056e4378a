"""Checks of the repository that no installed tool offers."""
