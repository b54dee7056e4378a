"""Plans of problems with arithmetic: branch and bound over boxes of action sets."""
