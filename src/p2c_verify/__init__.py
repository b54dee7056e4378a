"""Check a plan and its certificate without the planner that made them.

The package uses the Python standard library only and never imports `p2c`. It reads the canonical JSON form of a problem,
replays the plan, and verifies that the certificate covers every action set that could be cheaper.

Modules, in reading order: `values` (features and sets of values), `arithmetic` (intervals), `problem` (rules as data), `forest` (scores of a parsed
model over value sets), `facts` (three-valued evaluation), `transitions` (actions, effects, costs), `cover` (boxes, reasons,
the search tree), `claims` (the plan as a path, the document as a whole).
"""

from p2c_verify.claims import Report, verify
from p2c_verify.values import VerifyError

__all__ = ["Report", "VerifyError", "verify"]
