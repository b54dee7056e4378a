"""The rule language and what it means."""

from p2c._rules.parse import parse as parse
from p2c._rules.render import render as render
