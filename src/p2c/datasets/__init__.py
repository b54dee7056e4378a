"""The paper's problems, ready to run, and the public data that they come from."""

from p2c.datasets.embedded import names as names
from p2c.datasets.embedded import problem_text as problem_text
from p2c.datasets.embedded import raw_bytes as raw_bytes
from p2c.datasets.embedded import rows as rows
from p2c.datasets.tables import load_frame as load_frame
from p2c.datasets.tables import load_rows as load_rows
