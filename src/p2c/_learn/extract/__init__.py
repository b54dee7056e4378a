"""The logic of a model as rules: its own where it has some, learned from its answers where it has none."""

from p2c._learn.extract.logic import Extraction as Extraction
from p2c._learn.extract.logic import extract as extract
from p2c._learn.extract.logic import extract_logic as extract_logic
