"""The rule language and what it means."""

from p2c.rules.parse import parse as parse
from p2c.rules.render import render as render
