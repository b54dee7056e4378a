"""Every error that p2c raises, as one tree.

P2CError
├── RuleError        rule text that cannot be read or does not fit the features; keeps line and column
├── ProblemError     a problem file or dict with one or more faults, each with its place
├── RowError         a person's row that does not fit the problem
├── ModelError       a model that has no answer to some rows
├── PlanError        a plan that cannot be read as one
├── EngineError      a question that an engine cannot take or answer
├── NoticeError      a notice that lacks what it has to have, or whose form or lender's file is wrong
├── ReviewError      a review of causal rules that is damaged, unfinished or contradicts itself; keeps the rules' ids
├── BatchError       a batch that ended before its time; keeps the parts that are missing
└── MissingExtra     an optional dependency that is not installed

The text of an error is one line: what is wrong, where, and what would be right. A rule error carries the source line
with a caret as a note, so tracebacks and notebooks show it below.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from p2c._release import DISTRIBUTION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


def install_command(extra: str) -> str:
    """Return the command that installs p2c with an extra.

    >>> install_command("learn")
    "pip install 'p2c-recourse[learn]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"


MOST_FAULTS = 10
"""How many faults a message lists before it only counts the rest."""
LONGEST_FAULT = 400
"""Most characters of the place and of the message of one fault."""
SNIPPET = 200
"""Most characters of a source line that are shown around the column of a fault."""
LONGEST_MESSAGE = 4_000
"""Maximum number of characters of a message.

An input of any size is refused in a message that fits on a screen.
"""


def bounded(text: str, limit: int) -> str:
    """Return text without its middle if it is too long.

    The end is kept, since it often holds the correction.

    >>> bounded("f: 7777777777777777 is outside its range", 30)
    'f: 777777777…outside its range'
    """
    if len(text) <= limit:
        return text
    kept = limit // 2
    return f"{text[: limit - kept - 3]}…{text[len(text) - kept - 2 :]}"


class P2CError(Exception):
    """Base of all errors raised on purpose by p2c, with a message of bounded length.

    >>> import p2c
    >>> try:
    ...     p2c.Problem.example("loan").plan({**p2c.datasets.rows("loan")["john"], "debt": -1})
    ... except p2c.P2CError as error:
    ...     print(error)
    debt: -1 is outside its range, 0 to 1000000
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(bounded(message, LONGEST_MESSAGE))


class UncertifiedError(P2CError):
    """A certificate cannot be made: no canonical form of a part, or a limit."""


class RuleError(P2CError):
    """Report rule text that cannot be read or that does not fit the features."""

    def __init__(self, problem: str, *, line: int, column: int, source: str = "") -> None:
        self.problem = problem
        self.line = line
        self.column = column
        lines = source.split("\n")
        self.source_line = lines[line - 1] if 0 < line <= len(lines) else ""
        super().__init__(f"line {line}, column {column}: {problem}")
        if self.source_line:
            self.add_note(self.snippet)

    @property
    def snippet(self) -> str:
        """Return the offending source line with a caret below the column."""
        start = max(self.column - 1 - SNIPPET // 2, 0)
        text = self.source_line.replace("\t", " ")[start : start + SNIPPET]
        return f"    {text}\n    {' ' * (self.column - 1 - start)}^"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a problem or a row, with its place and the correction."""

    place: str
    message: str

    def __str__(self) -> str:
        message = bounded(self.message, LONGEST_FAULT)
        return f"{bounded(self.place, LONGEST_FAULT)}: {message}" if self.place else message

    def to_dict(self) -> dict[str, str]:
        """Return the fault as JSON, of bounded length."""
        return {
            "place": bounded(self.place, LONGEST_FAULT),
            "message": bounded(self.message, LONGEST_FAULT),
        }


def fault_lines(faults: Sequence[Fault]) -> list[str]:
    """Return the first faults as text, and the number of the rest if there are more."""
    rest = len(faults) - MOST_FAULTS
    return [*map(str, faults[:MOST_FAULTS]), *([f"and {rest:,} more"] if rest > 0 else [])]


class ProblemError(P2CError):
    """Report the faults of a problem at once, one a line.

    `faults` holds all of the faults, the message the first ones.
    """

    def __init__(self, faults: Sequence[Fault], *, source: str = "") -> None:
        self.faults = tuple(faults)
        self.source = source
        start = f"{source}: " if source else ""
        super().__init__("\n".join(f"{start}{fault}" for fault in fault_lines(self.faults)))


class RowError(P2CError):
    """Report the faults of a person's row in one line.

    `faults` holds all of the faults, the message the first ones.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(fault_lines(self.faults)))


class ModelError(P2CError):
    """Report a model without an answer to a row, such as an unknown category."""


class PlanError(P2CError):
    """Report a plan document that does not have the shape of a plan."""


class EngineError(P2CError):
    """Report a question that an engine cannot take or did not answer."""


class NoticeError(P2CError):
    """Report the faults of a notice, field by field.

    `faults` holds all of the faults, the message the first ones.
    """

    def __init__(self, source: str, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(f"{source}: {fault}" for fault in fault_lines(self.faults)))


class ReviewError(P2CError):
    """Report an unusable review of causal rules, and the ids of the faulty rules."""

    def __init__(self, message: str, *, rules: Sequence[str] = ()) -> None:
        self.rules = tuple(rules)
        super().__init__(message)


class BatchError(P2CError):
    """Report a batch that ended early, and the numbers of the missing parts."""

    def __init__(self, reason: str, *, parts: Sequence[int]) -> None:
        self.parts = tuple(parts)
        super().__init__(
            f"{counted(len(self.parts), 'part')} missing ({_ranges(self.parts)}): {reason}; the same command goes on from here"
        )


class MissingExtra(P2CError):
    """Report a missing optional dependency and the command that installs it."""

    def __init__(self, package: str, *, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"this needs the package '{package}', which is not installed: {install_command(extra)}"
        )


def need_learning() -> None:
    """Raise `MissingExtra` unless pandas and scikit-learn are installed."""
    for package, module in (("pandas", "pandas"), ("scikit-learn", "sklearn")):
        try:
            missing = find_spec(module) is None
        except ModuleNotFoundError:
            missing = True
        if missing:
            raise MissingExtra(package, extra="learn")


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text, runs as `3-7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)


LARGEST = "numbers go up to about 1.8e308"
"""The hint for a number that is too large."""

INNER_PLACE = re.compile(r"^\[[0-9:]+\] \S+:[0-9]+: ")


def one_line(error: Exception) -> str:
    r"""Return the message of another library on one line, without its code lines.

    >>> one_line(ValueError("[23:48:19] /src/cats.h:29: an unknown\ncategory: `z`\nStack trace:\n  [bt] (0) lib.so"))
    'an unknown category: `z`'
    """
    return " ".join(INNER_PLACE.sub("", str(error).partition("Stack trace:")[0]).split())


def joined_lines(error: Exception) -> str:
    r"""Return an error of ours with several faults in one line.

    >>> joined_lines(P2CError("age: missing\ndebt: missing"))
    'age: missing; debt: missing'
    """
    return "; ".join(str(error).splitlines())


def shorten(text: str, limit: int = 40) -> str:
    """Return text shortened to one line, with unprintable characters escaped."""
    cut = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in cut)


def shown(value: object) -> str:
    """Return a value as messages show it: on one line, in at most 60 letters.

    >>> shown("no"), shown(10**400)
    ("'no'", 'a number of more than 30 digits')
    """
    huge = "a number of more than 30 digits"
    if isinstance(value, int) and abs(value) > 1e30:
        return huge
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python does not write whole numbers of thousands of digits
        return huge
    return text if len(text) <= 60 else f"{text[:59]}…"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless it is one.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def and_more(words: Sequence[str], most: int = 20, separator: str = ", ") -> str:
    """Return the first words and the number of the rest.

    >>> and_more(["age", "debt", "job"], most=2)
    'age, debt and 1 more'
    """
    rest = len(words) - most
    return separator.join(words[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def first_few(words: Iterable[str], most: int = 5) -> str:
    """Return the first words, and an ellipsis if there are more.

    >>> first_few(["age", "debt", "job"], most=2)
    'age, debt, …'
    """
    every = list(words)
    return ", ".join([*every[:most], *(["…"] if len(every) > most else [])])


def nearest_word(word: str, known: Iterable[str]) -> str:
    """Return the known word that is spelt most like another; empty if none is near."""
    return next(iter(get_close_matches(word, sorted(set(known)), n=1, cutoff=0.6)), "")


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return a hint with the nearest known word, or else the known words."""
    words = sorted(set(known))
    near = nearest_word(word, words)
    if near:
        return f"did you mean '{near}'?"
    if not words:
        return "there are none"
    return "known: " + first_few((f"'{each}'" for each in words), most=8)


def check_word(
    refusal: str, value: object, words: Collection[str], error: type[P2CError] = P2CError
) -> None:
    """Refuse a value that is not among the words, with a hint.

    >>> check_word("no engine", ["clingo"], ("native", "clingo"))
    Traceback (most recent call last):
    p2c.errors.P2CError: no engine ['clingo']; known: 'clingo', 'native'
    """
    word = value if isinstance(value, str) else ""
    if word not in words:
        raise error(f"{refusal} {shown(value)}; {suggestion(word, words)}")


def comma_hint(whole: str, rest: str) -> str:
    """Return how to write a number that has a comma.

    >>> comma_hint("2400", "50")
    'write decimals with a point, 2400.50'
    >>> comma_hint("40", "000")
    'write thousands without a comma, 40000, and decimals with a point, 40.000'
    """
    decimals = f"decimals with a point, {whole}.{rest}"
    thousands = f"thousands without a comma, {whole}{rest}, and " if len(rest) == 3 else ""
    return f"write {thousands}{decimals}"


def check_flag(name: str, value: object) -> None:
    """Refuse a value that is neither True nor False; "no" would count as true.

    >>> check_flag("replace", "no")
    Traceback (most recent call last):
    p2c.errors.P2CError: replace: expected True or False, found 'no'
    """
    if not isinstance(value, bool):
        raise P2CError(f"{name}: expected True or False, found {shown(value)}")


def words_of(value: Any, expected: str) -> tuple[str, ...]:
    """Return one word or several as a tuple; refuse anything else.

    >>> words_of(5, "protected: expected names of features")
    Traceback (most recent call last):
    p2c.errors.P2CError: protected: expected names of features, found 5
    """
    if isinstance(value, str):
        return (value,)
    try:
        words = tuple(value)
    except TypeError:
        words = (value,)
    if not all(isinstance(each, str) for each in words):
        raise P2CError(f"{expected}, found {shown(value)}")
    return words
