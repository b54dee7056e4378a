"""P2C: a plan from a refused application to an accepted one, proved to be the cheapest there is."""

from p2c.errors import P2CError as P2CError
from p2c.problem import Problem as Problem
