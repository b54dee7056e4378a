"""Small random worlds, as a person would write them: a problem's dict with its rule text, and a row.

Each literal is drawn with its truth for the row known, so that goals can be made to fail at the start and causes to wait
for an action; that is what makes most of the worlds worth planning in.
"""

from __future__ import annotations

import operator
import random
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

Document = dict[str, Any]
Plain = str | int | float

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "\\=": operator.ne,
    "<": operator.lt,
    "=<": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

NAMES = ("age", "debt", "job", "skill", "saving", "Credit Score", "home", "rank_of", "income")
WORDS: tuple[tuple[Plain, ...], ...] = (
    ("a", "b", "c", "d", "e"),
    ("low", "mid", "high", "top", "max"),
    ("New York", "don't", "b c", "Zed", "a-b"),
    (1, 2, 3, 4, 5),
)


@dataclass
class Column:
    """A feature being made up: its keys, its values, the person's own and whether rules govern it."""

    name: str
    kind: str
    values: list[Plain]
    keys: Document
    own: Plain | None = None
    governed: bool = False

    @property
    def is_number(self) -> bool:
        return self.kind in ("int", "float")

    @property
    def bounds(self) -> tuple[int | float, int | float]:
        low, high = self.keys.get("min", self.values[0]), self.keys.get("max", self.values[-1])
        assert not isinstance(low, str)
        assert not isinstance(high, str)
        return low, high


@dataclass
class Writer:
    """Rule text in the making."""

    rng: random.Random
    columns: list[Column]
    lines: list[str] = field(default_factory=list)
    variables: int = 0

    def chance(self, share: float) -> bool:
        return self.rng.random() < share


@dataclass(frozen=True)
class Said:
    """Text of a literal or a body, whether it is true of the row, and whether another value would tell."""

    text: str
    true: bool
    varies: bool = True


def random_problem(rng: random.Random, *, tiny: bool = False) -> tuple[Document, Document]:
    """Return a problem of a few hundred states at most (a few dozen if tiny), and a row for it."""
    columns = _columns(rng, tiny=tiny)
    writer = Writer(rng, columns)
    _write_causes(writer)
    goal = _write_decisions(writer)
    _write_constraints(writer)
    rng.shuffle(writer.lines)
    for column in columns:
        _choose_keys(rng, column)
    problem: Document = {"name": "small", "goal": goal, "rules": "\n".join(writer.lines)}
    problem |= _choose_options(rng)
    problem["features"] = {column.name: column.keys for column in columns}
    return problem, {column.name: column.own for column in columns}


def problems(*, tiny: bool = False) -> st.SearchStrategy[tuple[Document, Document]]:
    """Draw a problem and a row."""
    randoms = st.randoms(use_true_random=False)
    return randoms.map(lambda rng: random_problem(rng, tiny=tiny))


def seeded_problems(seed: int, count: int) -> list[tuple[Document, Document]]:
    """Return the same problems for the same seed, on every machine."""
    return [random_problem(random.Random(f"{seed}/{each}")) for each in range(count)]


# Features.


def _columns(rng: random.Random, *, tiny: bool) -> list[Column]:
    room = 30 if tiny else 300
    names = rng.sample(NAMES, rng.choice((2, 2, 3) if tiny else (2, 3, 3, 4, 4, 4, 5, 5)))
    columns = []
    for left, name in zip(range(len(names) - 1, -1, -1), names, strict=True):
        most = min(room // 2**left, 3 if tiny else 5)
        size = rng.randint(2, max(most, 2))
        room //= size
        columns.append(_column(rng, name, size))
    return columns


def _column(rng: random.Random, name: str, size: int) -> Column:
    kind = rng.choice(("int", "int", "float", "category", "category", "ordinal"))
    make = {"int": _int_column, "float": _float_column}.get(kind, _word_column)
    column = make(rng, name, kind, size)
    column.own = rng.choice(column.values)
    if rng.random() < 0.06:
        column.own = None
    elif column.is_number and rng.random() < 0.15:
        low, high = column.bounds
        column.own = rng.randint(int(low), int(high)) if kind == "int" else _between(rng, low, high)
    return column


def _between(rng: random.Random, low: float, high: float) -> float:
    return min(max(round(low + (high - low) * rng.random(), 2), low), high)


def _int_column(rng: random.Random, name: str, kind: str, size: int) -> Column:
    low = rng.randint(-3, 5)
    if rng.random() < 0.25:
        values: list[Plain] = sorted(rng.sample(range(low, low + 12), size))
        shown = rng.sample(values, size)
        return Column(name, kind, values, {"type": kind, "values": shown})
    step = rng.choice((1, 1, 2, 3))
    values = [low + step * each for each in range(size)]
    high = low + step * (size - 1) + rng.randrange(step)
    keys: Document = {"type": kind, "min": low, "max": high}
    return Column(name, kind, values, keys | ({"step": step} if step > 1 else {}))


def _float_column(rng: random.Random, name: str, kind: str, size: int) -> Column:
    if rng.random() < 0.25:
        values: list[Plain] = [each / 4 for each in sorted(rng.sample(range(-8, 12), size))]
        return Column(name, kind, values, {"type": kind, "values": list(values)})
    tenths = rng.choice((1, 5, 5, 10, 25))
    low = rng.choice((0, 0, 10, -15, 3))
    values = [(low + tenths * each) / 10 for each in range(size)]
    slack = rng.choice((0, 0, tenths / 20))
    high = round((low + tenths * (size - 1)) / 10 + slack, 3)
    return Column(
        name, kind, values, {"type": kind, "min": low / 10, "max": high, "step": tenths / 10}
    )


def _word_column(rng: random.Random, name: str, kind: str, size: int) -> Column:
    words = rng.choice(WORDS)
    values = list(words[:size]) if rng.random() < 0.7 else rng.sample(words, size)
    return Column(name, kind, values, {"type": kind, "values": list(values)})


def _choose_keys(rng: random.Random, column: Column) -> None:
    ordered = column.kind != "category"
    roll = rng.random()
    if column.governed and roll < 0.5:
        action = rng.choice((None, "effect"))
    elif roll < 0.75:
        action = rng.choice((None, "free")) if not column.governed else "free"
    elif ordered and roll < 0.93:
        low = column.own is None or column.own in column.values[: len(column.values) // 2]
        action = rng.choice(("up", "up", "up", "down") if low else ("down", "down", "down", "up"))
    else:
        action = rng.choice(("fixed", "free", "free"))
    if action:
        column.keys["action"] = action
    if rng.random() < 0.35:
        column.keys["weight"] = rng.choice((0, 0.5, 2, 3, 0.1))
    if column.is_number and rng.random() < 0.3:
        column.keys["scale"] = rng.choice((2, 0.5, 2.5, 10, 0.3, "range"))
    if not column.is_number and rng.random() < 0.3:
        column.keys["moves"] = _moves(rng, column.values)
    if column.governed and rng.random() < 0.35:
        column.keys["law"] = rng.choice(("iff", "if", "only_if"))


def _moves(rng: random.Random, values: list[Plain]) -> Document:
    ways = {str(each): [end for end in values if rng.random() < 0.5] for each in values}
    if rng.random() < 0.5:
        for one, following in pairwise(values):
            ways[str(one)] = [following]
    return {start: ends for start, ends in ways.items() if ends or rng.random() < 0.5}


def _choose_options(rng: random.Random) -> Document:
    choices: list[tuple[str, tuple[str | None, ...]]] = [
        ("law", (None, "iff", "iff", "if", "only_if")),
        ("effects", (None, None, "triggered", "supported")),
        ("norm", (None, "l0", "l1", "l2", "l2")),
        ("minimize", (None, None, "cost", "actions")),
        ("exceptions", (None,) * 18 + ("abduce", "strict")),
    ]
    drawn = ((key, rng.choice(values)) for key, values in choices)
    return {key: value for key, value in drawn if value is not None}


# Literals.


def _named(name: str) -> str:
    return name if re.fullmatch(r"[a-z]\w*", name) else _quoted(name)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _term(writer: Writer, value: Plain) -> str:
    if not isinstance(value, str):
        return repr(value)
    return value if re.fullmatch(r"[a-z]\w*", value) and writer.chance(0.3) else _quoted(value)


def _variable(writer: Writer) -> str:
    writer.variables += 1
    return f"N{writer.variables}"


def _constant(writer: Writer, column: Column) -> Plain:
    if not column.is_number or writer.chance(0.7):
        return writer.rng.choice(column.values)
    low, high = column.bounds
    outside: list[int | float] = [low - 1, high + 1, low - 0.5, high + 2.25]
    return writer.rng.choice([*outside, (low + high) / 2, low + 0.25, float(high)])


def _compared(column: Column, sign: str, constant: Plain, value: Plain | None) -> bool:
    if value is None:
        return False
    if column.is_number or sign in ("=", "\\="):
        return COMPARE[sign](value, constant)
    return COMPARE[sign](column.values.index(value), column.values.index(constant))


def _sign(writer: Writer, column: Column) -> str:
    if column.kind == "category":
        return writer.rng.choice(("=", "\\="))
    return writer.rng.choice(("<", "=<", ">", ">=", "=<", ">=", "=", "\\="))


def _comparison(writer: Writer, variable: str, sign: str, term: str) -> str:
    mirror = {"<": ">", "=<": ">=", ">": "<", ">=": "=<"}
    if writer.chance(0.1):
        return f"{term} {mirror.get(sign, sign)} {variable}"
    return f"{variable}{sign}{term}" if sign not in ("=", "\\=") else f"{variable} {sign} {term}"


def _literal(writer: Writer, column: Column) -> Said:
    """Return a literal about a feature."""
    name = _named(column.name)
    negated = writer.chance(0.25)
    if column.kind == "category" or (column.kind == "ordinal" and writer.chance(0.5)):
        if writer.chance(0.8):
            constant = writer.rng.choice(column.values)
            atom = f"{name}(X,{_term(writer, constant)})"
            return _said(column, "=", constant, f"not {atom}" if negated else atom, negated)
    elif writer.chance(0.1):
        constant = writer.rng.choice(column.values)
        return _said(column, "=", constant, f"{name}(X,{_term(writer, constant)})", False)
    variable, sign, constant = _variable(writer), _sign(writer, column), _constant(writer, column)
    said = _comparison(writer, variable, sign, _term(writer, constant))
    text = f"{name}(X,{variable}), " + (f"not({said})" if negated else said)
    return _said(column, sign, constant, text, negated)


def _said(column: Column, sign: str, constant: Plain, text: str, negated: bool) -> Said:
    now = _compared(column, sign, constant, column.own)
    varies = any(_compared(column, sign, constant, each) != now for each in column.values)
    return Said(text, now != negated, varies)


def _wanted(writer: Writer, column: Column, *, true: bool) -> Said:
    """Return a literal with the truth that is wanted, if one is found soon."""
    said = _literal(writer, column)
    for _ in range(8):
        if said.true == true and (said.varies or writer.chance(0.1)):
            break
        said = _literal(writer, column)
    return said


def _body(
    writer: Writer, columns: list[Column], *, true: bool, most: int, calls: list[Said] | None = None
) -> Said:
    """Return a body that is true of the row, or fails by one literal."""
    count = min(writer.rng.choice((1, 1, 1, 2, 2, 3)), most, len(columns))
    chosen = writer.rng.sample(columns, count)
    failing = None if true else writer.rng.randrange(count)
    parts = [_wanted(writer, column, true=place != failing) for place, column in enumerate(chosen)]
    if calls and writer.chance(0.4):
        parts.append(_called(writer, writer.rng.choice(calls), true=true))
    return Said(", ".join(part.text for part in parts), all(part.true for part in parts))


def _called(writer: Writer, call: Said, *, true: bool) -> Said:
    plain = call.true == true if writer.chance(0.85) else writer.chance(0.5)
    return call if plain else Said(f"not {call.text}", not call.true)


# Rules.


def _write_causes(writer: Writer) -> None:
    most = len(writer.columns) - 1
    count = writer.rng.choice((0, 1, 1, 1, 2, 2, 3))
    for column in writer.rng.sample(writer.columns, min(count, most)):
        column.governed = True
        others = [each for each in writer.columns if each is not column]
        helpers = _helpers(writer, others) if writer.chance(0.2) else []
        for _ in range(writer.rng.choice((1, 1, 2, 2, 3))):
            body = _body(writer, others, true=writer.chance(0.3), most=2, calls=helpers)
            head, restricts = _head(writer, column)
            text = ", ".join([body.text, *restricts])
            if writer.chance(0.02):
                text = ", ".join(restricts)
            writer.lines.append(f"{head} :- {text}." if text else f"{head}.")


def _helpers(writer: Writer, columns: list[Column]) -> list[Said]:
    """Write a decision over some features only, for the causes of the others."""
    name = f"helper{len(writer.lines)}"
    bodies = [
        _body(writer, columns, true=writer.chance(0.3), most=2)
        for _ in range(writer.rng.choice((1, 1, 2)))
    ]
    writer.lines += [f"{name}(X) :- {body.text}." for body in bodies]
    return [Said(f"{name}(X)", any(body.true for body in bodies))]


def _head(writer: Writer, column: Column) -> tuple[str, list[str]]:
    name = _named(column.name)
    own_excluded = [each for each in column.values if each != column.own] or column.values
    if writer.chance(0.45 if column.kind != "category" else 0.75):
        value = writer.rng.choice(own_excluded if writer.chance(0.7) else column.values)
        return f"{name}(X,{_term(writer, value)})", []
    variable = _variable(writer)
    restricts = []
    for _ in range(2 if writer.chance(0.25) else 1):
        sign, constant = _sign(writer, column), _constant(writer, column)
        said = _comparison(writer, variable, sign, _term(writer, constant))
        restricts.append(f"not({said})" if writer.chance(0.1) else said)
    return f"{name}(X,{variable})", restricts


def _write_decisions(writer: Writer) -> str:
    """Write the decision and its exceptions; return a goal that most often fails for the row."""
    calls: list[Said] = []
    for number in range(writer.rng.choice((0, 0, 1, 1, 2, 3))):
        calls.append(_decision(writer, _decision_atom(writer, f"ab{number + 1}"), calls, share=0.4))
    positive = writer.chance(0.4)
    atom = writer.rng.choice(
        ("accept(X)", "label(X,'good')") if positive else ("reject(X)", "label(X,'bad')")
    )
    if positive:
        decided = _decision(writer, atom, calls, share=0.04, most=3)
    else:
        decided = _decision(writer, atom, calls, share=0.8, most=2, rules=(1, 2, 2, 3))
    query = [decided.text if positive else f"not {decided.text}"]
    if writer.chance(0.3):
        query.append(_wanted(writer, writer.rng.choice(writer.columns), true=False).text)
    return ", ".join(query)


def _decision_atom(writer: Writer, name: str) -> str:
    return f"{name}(X,'True')" if writer.chance(0.3) else f"{name}(X)"


def _decision(
    writer: Writer,
    atom: str,
    calls: list[Said],
    *,
    share: float,
    most: int = 2,
    rules: tuple[int, ...] = (1, 1, 2),
) -> Said:
    """Write the rules of one decision; `share` of them are true of the row."""
    governed = [each for each in writer.columns if each.governed]
    bodies = []
    for _ in range(writer.rng.choice(rules)):
        columns = governed if governed and writer.chance(0.45) else writer.columns
        bodies.append(_body(writer, columns, true=writer.chance(share), most=most, calls=calls))
    writer.lines += [f"{atom} :- {body.text}." for body in bodies]
    return Said(atom, any(body.true for body in bodies))


def _write_constraints(writer: Writer) -> None:
    for _ in range(writer.rng.choice((0, 0, 0, 1, 1, 2))):
        body = _body(writer, writer.columns, true=writer.chance(0.12), most=3)
        writer.lines.append(f":- {body.text}.")
