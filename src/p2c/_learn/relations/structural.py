"""Equations of linear structural models: fitted ones, and graphs with data.

No library is imported for them: a model object brings its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from p2c._learn.foldse.text import predicate_name
from p2c._learn.relations.relation import Relation, RelationKind, relation_id
from p2c._spec.expression import Apply, Name, Number, name_text, text_of
from p2c._spec.feature import exact
from p2c.errors import P2CError, and_more

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c._spec.expression import Expression

Arrow = tuple[str, str]
"""A cause and its effect."""


class Line(NamedTuple):
    """A linear function of the parents of a node."""

    node: str
    parents: tuple[str, ...]
    weights: tuple[float, ...]
    constant: float

    @property
    def text(self) -> str:
        """Return the function as the text of an equation."""
        parts: list[Expression] = []
        for parent, weight in zip(self.parents, self.weights, strict=True):
            later = weight < 0 and bool(parts)
            product = Apply("*", (Number(exact(-weight if later else weight)), Name(parent)))
            parts.append(Apply("neg", (product,)) if later else product)
        if self.constant or not parts:
            parts.append(Number(exact(self.constant)))
        return text_of(Apply("+", tuple(parts)) if len(parts) > 1 else parts[0])


def equations_from(scm: Any, data: Any = None) -> dict[str, str]:
    """Return the equations of a linear structural causal model.

    Each node with parents gets the linear function of its parents; as the equation of a feature, whose residual is kept,
    it gives the counterfactuals of the additive-noise model.

    Args:
        scm: A fitted structural causal model of `dowhy.gcm` with linear additive noise, a `LinearGaussianBayesianNetwork`
            of pgmpy, or a networkx `DiGraph`.
        data: The rows for a graph alone, to which linear regressions are fitted; a pandas frame.

    Returns:
        Expressions by node, as `Problem.from_model(equations=...)` takes them.

    >>> import pandas as pd
    >>> class Graph:
    ...     nodes = ("debt", "score")
    ...     def predecessors(self, node):
    ...         return ["debt"] if node == "score" else []
    >>> equations_from(Graph(), pd.DataFrame({"debt": [0, 1, 2, 3], "score": [700, 698, 696, 694]}))
    {'score': '-2 * debt + 700'}
    """
    if hasattr(scm, "causal_mechanism") and hasattr(scm, "graph"):
        lines = _of_mechanisms(scm)
    elif hasattr(scm, "cpds"):
        lines = _of_gaussians(scm)
    elif data is not None and hasattr(scm, "predecessors"):
        arrows = [(str(p), str(node)) for node in scm.nodes for p in scm.predecessors(node)]
        lines = regressions(arrows, data)
    else:
        found = type(scm).__name__
        expected = "a dowhy.gcm model, a LinearGaussianBayesianNetwork, or a DiGraph with data"
        raise P2CError(f"expected {expected}, found {found}")
    return {line.node: line.text for line in lines}


def _of_mechanisms(scm: Any) -> Iterator[Line]:
    """Yield the linear functions of a model of `dowhy.gcm`.

    The library sorts the parents of a node.
    """
    for node in scm.graph.nodes:
        parents = sorted(scm.graph.predecessors(node))
        if not parents:
            continue
        try:
            mechanism = scm.causal_mechanism(node)
        except KeyError:
            raise P2CError(f"{node}: the model has no mechanism for it; fit it first") from None
        regression = getattr(mechanism, "prediction_model", None)
        fitted: Any = getattr(regression, "sklearn_model", None)
        weights = np.ravel(getattr(fitted, "coef_", ()))
        if len(weights) != len(parents):
            kind = type(mechanism if fitted is None else fitted).__name__
            raise P2CError(f"{node}: expected a fitted linear additive-noise model, found {kind}")
        yield _line(node, parents, weights, np.ravel(fitted.intercept_)[0])


def _of_gaussians(network: Any) -> Iterator[Line]:
    """Yield the linear functions of a Gaussian network.

    The constant comes first in `beta`.
    """
    if not network.cpds:
        raise P2CError("the network has no distributions; fit it first")
    for each in network.cpds:
        if each.evidence:
            constant, *weights = np.ravel(each.beta)
            yield _line(each.variable, each.evidence, weights, constant)


def regressions(arrows: Sequence[Arrow], frame: Any) -> Iterator[Line]:
    """Yield the linear regression of each node of a graph on its parents.

    Rows with a missing value of the node or of a parent are left out.
    """
    parents: dict[str, list[str]] = {}
    for cause, effect in dict.fromkeys(arrows):
        parents.setdefault(effect, []).append(cause)
    columns = {str(name): name for name in frame.columns}
    for node, causes in parents.items():
        absent = [each for each in (node, *causes) if each not in columns]
        if absent:
            raise P2CError(f"{node}: no column {and_more(absent)} in the data")
        texts = [e for e in (node, *causes) if frame[columns[e]].dtype.kind not in "biuf"]
        if texts:
            raise P2CError(f"{node}: a linear equation needs numbers; {and_more(texts)} has none")
        table = frame[[columns[each] for each in (*causes, node)]].astype(float).dropna().to_numpy()
        rows = np.column_stack([table[:, :-1], np.ones(len(table))])
        weights, _, rank, _ = np.linalg.lstsq(rows, table[:, -1], rcond=None)
        if rank < rows.shape[1]:
            raise P2CError(f"{node}: the rows do not determine the weights of {and_more(causes)}")
        yield _line(node, causes, [_plain(each) for each in weights[:-1]], _plain(weights[-1]))


def _plain(number: float) -> float:
    """Return a number to nine digits, as far as regressions are worth reading."""
    rounded = float(f"{number:.9g}")
    return 0.0 if abs(rounded) < 1e-12 else rounded


def _line(node: Any, parents: Sequence[Any], weights: Any, constant: Any) -> Line:
    plain = tuple(float(each) for each in weights)
    return Line(str(node), tuple(map(str, parents)), plain, float(constant))


def graph_relations(
    arrows: Sequence[Arrow], frame: Any
) -> tuple[tuple[Relation, ...], tuple[str, ...]]:
    """Return an equation for each effect of a graph, and the effects left out.

    Effects without numbers, or with a cause without numbers, are left out.

    Args:
        arrows: The graph; nodes go by names of columns or of features.
        frame: The rows that weights are estimated from.
    """
    rows = frame.rename(columns={each: predicate_name(str(each)) for each in frame.columns})
    named = [(predicate_name(cause), predicate_name(effect)) for cause, effect in arrows]
    words = {e for pair in named for e in pair if e in rows and rows[e].dtype.kind not in "biuf"}
    skipped = {effect for cause, effect in named if {cause, effect} & words}
    relations = []
    for line in regressions([each for each in named if each[1] not in skipped], rows):
        text = f"{name_text(line.node)} = {line.text}"
        features = (line.node, *line.parents)
        id_ = relation_id(line.node, text)
        relations.append(Relation(id_, RelationKind.EFFECT, features, text, 0, 0))
    return tuple(relations), tuple(sorted(skipped))


# Graphs as text.

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|<->|<-|->|--|[{};,=]|[^\s"{};,=<>\[\]-]+')
SKIPPED = re.compile(r"\[[^\]]*\]|/\*.*?\*/|(?://|#|%)[^\n]*", re.DOTALL)
OPENING = re.compile(r"\s*(?:strict\s+)?(dag|digraph)\b[^{]*\{", re.IGNORECASE)


def read_graph(text: str) -> tuple[Arrow, ...]:
    """Return the arrows of a graph in DAGitty or DOT text.

    Arrows with two heads, which say that a common cause is not known, give no equation and are left out.

    >>> read_graph('dag { debt -> score <- "years on time" ; debt [pos="0,1"] }')
    (('debt', 'score'), ('years on time', 'score'))
    """
    plain = SKIPPED.sub(" ", text)
    opening = OPENING.match(plain)
    if opening is None or not plain.rstrip().endswith("}"):
        raise P2CError("expected a graph such as 'dag { a -> b }' or 'digraph { a -> b; }'")
    tokens = TOKEN.findall(plain[opening.end() : plain.rstrip().rindex("}")])
    arrows: list[Arrow] = []
    left: list[str] = []
    sign, place = "", 0
    while place < len(tokens):
        token = tokens[place]
        if token in ("->", "<-", "<->", "--"):
            if token == "--":
                raise P2CError("a line without a direction, '--', does not say which is the cause")
            sign, place = token, place + 1
            continue
        if token in (";", ","):
            left, sign, place = [], "", place + 1
            continue
        if tokens[place + 1 : place + 2] == ["="]:
            left, sign, place = [], "", place + 3
            continue
        names, place = _names(tokens, place)
        if sign == "->":
            arrows += [(one, other) for one in left for other in names]
        elif sign == "<-":
            arrows += [(other, one) for one in left for other in names]
        left, sign = names, ""
    return tuple(dict.fromkeys(arrows))


def _names(tokens: Sequence[str], place: int) -> tuple[list[str], int]:
    """Return the node at a place, or the nodes between braces, and the next place."""
    if tokens[place] != "{":
        return [tokens[place].strip('"')], place + 1
    end = tokens.index("}", place) if "}" in tokens[place:] else len(tokens)
    inside = [each.strip('"') for each in tokens[place + 1 : end] if each not in (";", ",")]
    return inside, end + 1
