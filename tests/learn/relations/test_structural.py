"""Equations of fitted structural models and of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import p2c
from p2c import P2CError, Problem
from p2c._learn.relations.structural import read_graph
from p2c._rules.meaning import origin
from tests.cli.test_relations import run

if TYPE_CHECKING:
    from pathlib import Path

ARROWS = (("x", "y"), ("y", "z"), ("x", "z"))


def table(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    """Return rows of a linear model with noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    y = 2 * x + rng.normal(size=rows)
    return pd.DataFrame({"x": x, "y": y, "z": 3 * y - x + 1 + rng.normal(size=rows)})


def counterfactual(
    equations: dict[str, str], row: dict[str, float], change: dict[str, float]
) -> dict[str, Any]:
    """Recompute a row by equations after features are set."""
    features: dict[str, Any] = {}
    for name in row:
        free = name in change or name not in equations
        kept = {"min": -1e9, "max": 1e9} if free else {"equation": equations[name]}
        features[name] = {"type": "float"} | kept
    problem = Problem.from_dict({"goal": "x(X,N), N>0", "rules": "", "features": features})
    state = problem.read_row(row)
    start = origin(problem.theory, state)
    changed = {**state, **change}
    return start.recomputed(changed) if start else changed


def test_counterfactuals_of_dowhy_are_ours() -> None:
    gcm = pytest.importorskip("dowhy.gcm")
    networkx = pytest.importorskip("networkx")
    scm = gcm.InvertibleStructuralCausalModel(networkx.DiGraph(ARROWS))
    scm.set_causal_mechanism("x", gcm.EmpiricalDistribution())
    for node in "yz":
        linear = gcm.AdditiveNoiseModel(gcm.ml.create_linear_regressor())
        scm.set_causal_mechanism(node, linear)
    data = table()
    gcm.fit(scm, data)
    equations = p2c.equations_from(scm)
    assert set(equations) == {"y", "z"}
    for name in "xy":
        row = {str(key): float(each) for key, each in data.iloc[5].items()}
        theirs = gcm.counterfactual_samples(
            scm, {name: lambda _: 1.5}, observed_data=pd.DataFrame([row])
        )
        ours = counterfactual(equations, row, {name: 1.5})
        assert ours == pytest.approx(theirs.iloc[0].to_dict(), rel=1e-9)


def test_weights_of_pgmpy_are_ours() -> None:
    models = pytest.importorskip("pgmpy.models")
    network = models.LinearGaussianBayesianNetwork(list(ARROWS))
    network.fit(table())
    equations = p2c.equations_from(network)
    row = {"x": 1.0, "y": 2.0, "z": 3.0}
    by_graph = p2c.equations_from(Graph(), table())
    ours, theirs = (counterfactual(each, row, {"x": 0.5}) for each in (equations, by_graph))
    assert ours == pytest.approx(theirs, rel=1e-6)


class Graph:
    """A graph as networkx has them."""

    nodes = ("x", "y", "z")

    def predecessors(self, node: str) -> list[str]:
        return [cause for cause, effect in ARROWS if effect == node]


def test_a_graph_with_data_gives_regressions() -> None:
    x, v = np.arange(20.0), np.arange(20.0) % 3
    frame = pd.DataFrame({"x": x, "y": 2 * x - 1, "z": 0.5 * (2 * x - 1) + 3 * v, "v": v})
    frame.loc[3, "y"] = np.nan
    graph = Graph()
    assert p2c.equations_from(graph, frame.assign(z=4 + v, x=v, y=5 * x))["z"]
    with pytest.raises(P2CError, match="z: the rows do not determine the weights"):
        p2c.equations_from(graph, frame)


def test_a_model_that_is_not_linear_is_refused() -> None:
    class Tree:
        pass

    class Mechanism:
        prediction_model = type("Wrapped", (), {"sklearn_model": Tree()})()

    class Model:
        graph = Graph()

        def causal_mechanism(self, _: str) -> Mechanism:
            return Mechanism()

    with pytest.raises(P2CError, match="y: expected a fitted linear additive-noise model"):
        p2c.equations_from(Model())
    with pytest.raises(P2CError, match=r"expected a dowhy\.gcm model"):
        p2c.equations_from(object())


@pytest.mark.parametrize(
    ("text", "arrows"),
    [
        (
            'dag { bb="0,0,1,1"\n a [exposure,pos="0,1"]\n a -> {b c}\n b <-> c\n c <- d }',
            "ab ac dc",
        ),
        (
            "digraph G { rankdir=LR; node [shape=box]; a -> b -> c [label=x]; a -> b // twice\n}",
            "ab bc",
        ),
        ("strict digraph { a->b; b->c }", "ab bc"),
    ],
)
def test_graphs_are_read_from_text(text: str, arrows: str) -> None:
    assert [one + other for one, other in read_graph(text)] == arrows.split()


@pytest.mark.parametrize("text", ["a -> b", "graph { a -- b }", "dag { a -- b }", "dag { a -> b"])
def test_a_text_that_is_no_graph_is_refused(text: str) -> None:
    with pytest.raises(P2CError):
        read_graph(text)


def test_a_graph_file_gives_equations_to_review(tmp_path: Path) -> None:
    rows = table().rename(columns={"z": "Credit Score"}).assign(job=["a", "b"] * 150)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    graph, review = tmp_path / "graph.dot", tmp_path / "graph.review"
    graph.write_text('digraph { x -> y; y -> "Credit Score"; x -> job }')
    shown = run("causal", tmp_path / "rows.csv", "--graph", graph, "-o", review)
    assert "credit_score = " in shown.output
    assert "left out, for a linear equation needs numbers: job" in shown.output
    candidates = {each.feature: each for each in p2c.read_review(review).candidates.values()}
    assert set(candidates) == {"y", "credit_score"}
    for each in candidates.values():
        run("review", review, "--approve", each.id, "--by", "an expert", "--why", "known")
    keys = {"type": "float", "min": -9, "max": 9}
    problem = Problem.from_dict(
        {
            "goal": "credit_score(X,N), N>1",
            "rules": "",
            "features": dict.fromkeys(("x", "y", "credit_score"), keys),
        }
    )
    problem.save(tmp_path / "problem.toml")
    run("adopt", tmp_path / "problem.toml", review, "-o", tmp_path / "adopted.toml")
    plan = Problem.load(tmp_path / "adopted.toml").plan({"x": 0.0})
    assert [each.feature for each in plan.actions] == ["x"]
    assert plan.counterfactual is not None
    assert plan.counterfactual["credit_score"] > 1
