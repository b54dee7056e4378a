"""The question put to s(CASP), in a program that follows the paper's algorithms."""
