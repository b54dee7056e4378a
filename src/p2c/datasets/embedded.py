"""What lies inside the package: problems as TOML text with a few named rows each, and the UCI files as published."""

from __future__ import annotations

import hashlib
import json
import lzma
from importlib import resources
from typing import TypeAlias

from p2c._spec.feature import Value
from p2c.errors import check_word

Row: TypeAlias = dict[str, Value]
"""One row of a table: a value for every column, by name."""

SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "german.data": "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    "car.data": "b703a9ac69f11e64ce8c223c0a40de4d2e9d769f7fb20be5f8f2e8a619893d83",
}
NAMES = ("loan", "cars", "adult", "german")


def raw_bytes(file: str) -> bytes:
    """Return one published file byte for byte.

    >>> raw_bytes("car.data").splitlines()[0]
    b'vhigh,vhigh,2,2,small,low,unacc'
    """
    packed = resources.files(__package__).joinpath("data", f"{file}.xz").read_bytes()
    content = lzma.decompress(packed)
    assert hashlib.sha256(content).hexdigest() == SHA256[file], f"{file} is damaged"
    return content


def raw_lines(file: str) -> list[str]:
    """Return the lines of one published file that hold a row."""
    lines = raw_bytes(file).decode("ascii").splitlines()
    # adult.test opens with a line that starts with '|'; both Adult files end with an empty line.
    return [line for line in lines if line and not line.startswith("|")]


def names() -> tuple[str, ...]:
    """Return the names of the problems, the simplest first.

    >>> names()
    ('loan', 'cars', 'adult', 'german')
    """
    return NAMES


def problem_text(name: str) -> str:
    """Return the TOML text of a problem, comments and all, to load or to copy from.

    >>> problem_text("loan").splitlines()[0]
    '# A loan, after examples 1 and 2 of the paper.'
    """
    return _read(name, "toml")


def rows(name: str) -> dict[str, Row]:
    """Return the named example rows of a problem.

    >>> rows("loan")["john"]["credit_score"]
    599
    """
    examples: dict[str, Row] = json.loads(_read(name, "rows.json"))
    return examples


def _read(name: str, ending: str) -> str:
    check_word("datasets: no problem", name, NAMES)
    file = resources.files(__package__).joinpath("problems", f"{name}.{ending}")
    return file.read_text(encoding="utf-8")
