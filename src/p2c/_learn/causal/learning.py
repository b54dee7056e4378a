"""Causal rules out of data, as candidates: FOLD-SE with each value of a feature as its target (the paper, stage 1).

What comes out is correlation. An expert says which of it is cause and effect (`p2c._learn.causal.review`).
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from p2c._learn.causal.candidate import Candidate, Evidence, suggest_law
from p2c._learn.causal.contradictions import read_proposal, theory_of
from p2c._learn.foldse.columns import encode
from p2c._learn.foldse.induce import covers, features_read, learn_rules, prepare
from p2c._learn.foldse.literals import name_missing, predicate_name, simplify, to_program
from p2c._learn.relations.relation import Example
from p2c._learn.tables.domains import domain_from_frame, is_number, plain_value, tidy_frame
from p2c._rules.evaluate import clause_fires, in_head
from p2c._rules.render import render
from p2c._rules.syntax import (
    PERSON,
    Atom,
    Comparator,
    Comparison,
    Constant,
    Literal,
    Not,
    Program,
    Variable,
    bare,
)
from p2c._spec.feature import Law
from p2c.errors import Fault, ProblemError, ReviewError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    import pandas as pd
    from numpy.typing import NDArray

    from p2c._learn.causal.contradictions import Proposal
    from p2c._learn.causal.review import Review
    from p2c._learn.foldse.columns import CodedColumn, Mask
    from p2c._learn.foldse.literals import LearnedRule
    from p2c._learn.tables.domains import FeatureKeys
    from p2c._spec.feature import Value


Head: TypeAlias = tuple[tuple[Comparator, str | float], ...]
"""The comparisons that a value in it passes: one category, every category but one, or the numbers between two bounds."""
PASSES = {
    Comparator.EQ: operator.eq,
    Comparator.NE: operator.ne,
    Comparator.GE: operator.ge,
    Comparator.LT: operator.lt,
}


def possible_heads(
    column: pd.Series, *, cuts: Sequence[float] | None, bins: int, complements: bool
) -> list[Head]:
    """Return what rules may conclude of a tidy column."""
    if is_number(column):
        numbers = column.dropna().to_numpy(dtype=np.float64)
        inner = (
            quantile_cuts(numbers, bins) if cuts is None else sorted({float(cut) for cut in cuts})
        )
        starts: list[Head] = [(), *(((Comparator.GE, cut),) for cut in inner)]
        stops: list[Head] = [*(((Comparator.LT, cut),) for cut in inner), ()]
        return [(*start, *stop) for start, stop in zip(starts, stops, strict=True)] if inner else []
    values = sorted({str(value) for value in column.dropna()})
    signs = [Comparator.EQ, *([Comparator.NE] if complements and len(values) > 2 else [])]
    return [((sign, value),) for sign in signs for value in values]


def quantile_cuts(numbers: NDArray[np.float64], bins: int) -> list[float]:
    """Return where to cut numbers into about equal parts; a number that fills a part has it to itself.

    >>> quantile_cuts(np.array([0.0] * 9 + [5.0, 6.0, 8.0, 9.0]), 4)
    [5.0]
    >>> quantile_cuts(np.arange(8.0), 4)
    [2.0, 4.0, 6.0]
    """
    distinct, counts = np.unique(numbers, return_counts=True)
    if len(distinct) <= bins:
        return [float(each) for each in distinct[1:]]
    cuts: set[float] = set()
    for quantile in np.quantile(numbers, np.arange(1, bins) / bins, method="higher"):
        place = int(np.searchsorted(distinct, quantile))
        cuts.add(float(distinct[place]))
        if counts[place] * bins >= len(numbers) and place + 1 < len(distinct):
            cuts.add(float(distinct[place + 1]))
    return sorted(cuts - {float(distinct[0])})


def cuts_of(program: Program, frame: pd.DataFrame) -> dict[str, list[float]]:
    """Return where a program cuts the numbers of a tidy frame, so that ranges meet the thresholds of a decision."""
    cuts: dict[str, set[float]] = {}
    for rule in program.rules:
        inner = list(map(bare, rule.body))
        owners = {
            each.arguments[1]: each.predicate
            for each in inner
            if isinstance(each, Atom) and len(each.arguments) == 2
        }
        for each in inner:
            if isinstance(each, Comparison) and (owner := owners.get(each.left)) in frame:
                assert owner is not None
                cuts.setdefault(owner, set()).update(_cut(each, frame[owner]))
    return {name: sorted(found) for name, found in cuts.items()}


def _cut(comparison: Comparison, column: pd.Series) -> list[float]:
    if not isinstance(comparison.right, Constant) or not is_number(column):
        return []
    threshold = float(comparison.right.value)
    numbers = column.dropna()
    above = comparison.comparator in (Comparator.LE, Comparator.GT)
    past = numbers[numbers > threshold] if above else numbers[numbers >= threshold]
    return [float(past.min())] if len(past) else []


def head_holds(head: Head, column: pd.Series) -> Mask:
    """Tell for each row of a tidy column whether its value is in the head; a missing one never is."""
    kind = np.float64 if is_number(column) else object
    values = column.to_numpy(dtype=kind, na_value=np.nan)
    passed = [PASSES[sign](values, bound) for sign, bound in head]
    return np.asarray(np.logical_and.reduce([column.notna().to_numpy(), *passed]), dtype=bool)


def write_head(feature: str, head: Head) -> tuple[Atom, tuple[Literal, ...]]:
    """Return the head of a rule and the comparisons that restrict its variable."""
    sign, value = head[0]
    if sign is Comparator.EQ:
        return Atom(feature, (PERSON, Constant(value))), ()
    variable = Variable("V" if sign is Comparator.NE else "N")
    tests = [Comparison(variable, sign, Constant(_shortest(bound))) for sign, bound in head]
    return Atom(feature, (PERSON, variable)), tuple(tests)


def _shortest(bound: str | float) -> str | int | float:
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound


@dataclass(frozen=True, slots=True, eq=False)
class CausalTask:
    """The table to learn from, tidy and coded, with the settings."""

    table: pd.DataFrame
    columns: Mapping[str, CodedColumn]
    keys: Mapping[str, FeatureKeys]
    ratio: float
    tail: float
    examples: int


def learn_causal_rules(
    frame: pd.DataFrame,
    features: Iterable[str] | None = None,
    *,
    targets: Iterable[str] | None = None,
    ratio: float = 0.5,
    tail: float = 0.005,
    bins: int = 4,
    cuts: Mapping[str, Sequence[float]] | None = None,
    complements: bool = False,
    examples: int = 3,
) -> tuple[Candidate, ...]:
    """Return the rules that data suggest for each of `targets`, from the other `features`.

    They are correlations: an expert says which are cause and effect before any is used. A rule that is no better than
    P(head) is left out.

    Args:
        frame: A pandas table.
        features: The columns that may be causes; every column by default.
        targets: The columns to explain; every feature by default. A category is explained value by value, a number range
            by range.
        ratio: How many negatives for one positive a rule may cover before its exceptions are sought.
        tail: The share of the rows that a rule must cover.
        bins: Into how many ranges of about equally many rows a number is cut.
        cuts: Where the ranges of a number begin instead, by column.
        complements: Whether a category is also explained as "any value but this one".
        examples: How many counterexamples each candidate keeps.

    Returns:
        The candidates, each with its `rule`, its `evidence` and the `law` that it suggests.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"role": ["husband", "single", "wife"] * 9, "married": ["yes", "no", "yes"] * 9})
    >>> print(learn_causal_rules(table, targets=["married"])[0].rule)
    married(X,'no') :- role(X,'single').
    """
    table = tidy_frame(frame)
    causes = _chosen(table, features, [str(name) for name in table.columns])
    effects = _chosen(table, targets, causes)
    read = table[list(dict.fromkeys([*causes, *effects]))]
    source = CausalTask(
        table=read,
        columns={name: encode(read[name]) for name in causes},
        keys=domain_from_frame(read),
        ratio=ratio,
        tail=tail,
        examples=examples,
    )
    where = {predicate_name(name): places for name, places in (cuts or {}).items()}
    found: list[Candidate] = []
    for effect in effects:
        own = where.get(effect)
        for head in possible_heads(read[effect], cuts=own, bins=bins, complements=complements):
            found += _candidates(source, effect, head)
    return tuple(found)


def _chosen(table: pd.DataFrame, names: Iterable[str] | None, default: list[str]) -> list[str]:
    if names is None:
        return default
    chosen = [predicate_name(name) for name in names]
    for name in chosen:
        if name not in table:
            message = f"no column '{name}'; {suggestion(name, table.columns)}"
            raise ProblemError([Fault("columns", message)])
    return list(dict.fromkeys(chosen))


def _candidates(source: CausalTask, effect: str, head: Head) -> Iterator[Candidate]:
    """Learn the rules of one head and yield those that tell something."""
    held = head_holds(head, source.table[effect])
    causes = {name: column for name, column in source.columns.items() if name != effect}
    fewest = max(1, int(source.tail * len(held)))
    if not causes or held.all() or np.count_nonzero(held) < fewest:
        return
    task = prepare(causes, len(held), ratio=source.ratio, tail=source.tail)
    base = np.count_nonzero(held) / len(held)
    rules = [simplify(rule) for rule in learn_rules(task, held)]
    fired = [(rule, covers(rule, causes)) for rule in rules]
    kept = [(rule, mask) for rule, mask in fired if mask.any() and held[mask].mean() > base]
    covered = np.any([mask for _, mask in kept], axis=0)
    for rule, mask in kept:
        reads = tuple(name for name in causes if name in features_read([rule]))
        evidence = Evidence(
            rows=len(held),
            support=int(np.count_nonzero(mask)),
            heads=int(np.count_nonzero(held)),
            hits=int(np.count_nonzero(mask & held)),
            covered=int(np.count_nonzero(covered)),
            explained=int(np.count_nonzero(covered & held)),
            examples=_examples(source, (effect, *reads), mask & ~held),
        )
        name, text = _write(rule, effect, head, source.keys)
        yield Candidate(name, effect, text, reads, evidence, suggest_law(evidence))


def _write(
    rule: LearnedRule, effect: str, head: Head, keys: Mapping[str, FeatureKeys]
) -> tuple[str, str]:
    """Return the id of a candidate, which its text decides, and the text, its helpers named after the id."""
    program = to_program([replace(rule, label="")], target=effect, decimals=None)
    atom, restriction = write_head(effect, head)
    main = replace(program.rules[0], head=atom, body=program.rules[0].body + restriction)
    whole = Program((main, *program.rules[1:]))
    mark = sha256(render(whole).encode()).hexdigest()[:8]
    named = _rename_exceptions(whole, f"{effect}_{mark}")
    text = render(name_missing(named, keys, prefix=f"missing_{mark}"))
    return f"{effect}-{mark}", text


def _rename_exceptions(program: Program, mark: str) -> Program:
    """Put a mark behind the name of every exception, so that programs can be put together."""
    main, *exceptions = program.rules
    names = {rule.head.predicate for rule in exceptions if rule.head}

    def renamed(atom: Atom) -> Atom:
        inside = atom.predicate in names
        return replace(atom, predicate=f"{atom.predicate}_{mark}") if inside else atom

    def literal(each: Literal) -> Literal:
        if isinstance(each, Not) and isinstance(each.inner, Atom):
            return replace(each, inner=renamed(each.inner))
        return each

    rules = [
        replace(rule, head=rule.head and renamed(rule.head), body=tuple(map(literal, rule.body)))
        for rule in (main, *exceptions)
    ]
    return Program(tuple(rules))


def _examples(source: CausalTask, names: Sequence[str], mask: Mask) -> tuple[Example, ...]:
    places = np.flatnonzero(mask)[: source.examples].tolist()
    return tuple(
        Example(
            place + 1, tuple((name, plain_value(source.table[name].iloc[place])) for name in names)
        )
        for place in places
    )


def measure(review: Review, rule_id: str, text: str, frame: pd.DataFrame) -> Evidence:
    """Return what the rows of a table say of a text that may stand in the place of a candidate."""
    proposal = read_proposal(rule_id, text, Law.IFF, review.features)
    return weigh(proposal, frame, review.features)


def weigh(
    proposal: Proposal,
    frame: pd.DataFrame,
    features: Mapping[str, Mapping[str, Any]],
    *,
    examples: int = 3,
) -> Evidence:
    """Count where the body and the head of one rule hold in a table, by the reference meaning; no other rules are beside it."""
    theory = theory_of([proposal], features)
    (clause,) = theory.rules_of[proposal.feature]
    names = (proposal.feature, *proposal.causes)
    known: dict[tuple[Value, ...], tuple[bool, bool]] = {}
    support = heads = hits = 0
    shown: list[Example] = []
    table = tidy_frame(frame)
    for name in names:
        if name not in table:
            message = f"the data have no column '{name}'; {suggestion(name, table.columns)}"
            raise ReviewError(f"{proposal.id}: {message}", rules=[proposal.id])
    table = table[list(names)]
    for row, cells in enumerate(table.itertuples(index=False, name=None), start=1):
        values = tuple(map(plain_value, cells))
        if values not in known:
            state = dict(zip(names, values, strict=True))
            known[values] = clause_fires(theory, clause, state), in_head(theory, clause, values[0])
        body, head = known[values]
        support, heads, hits = support + body, heads + head, hits + (body and head)
        if body and not head and len(shown) < examples:
            shown.append(Example(row, tuple(zip(names, values, strict=True))))
    return Evidence(len(table), support, heads, hits, support, hits, tuple(shown))
