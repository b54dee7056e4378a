"""treecf: the package's exact search on the trees of the model.

It is given our distance (a category's two columns count a half each), whole numbers, ranges, what is fixed and what goes
one way. Causal rules have no place in it.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from benchmarks.peers.protocol import Aim, Answer, Compliance, Finder, Peer
from p2c._spec.feature import Action

if TYPE_CHECKING:
    from benchmarks.world import State, World

SECONDS = 20.0


def prepare(world: World) -> Finder:
    """Return the exact search on a world's model, compiled once."""
    import treecf

    coder = world.coder
    sizes: dict[str, float] = {}
    weights: dict[str, float] = {}
    limits: list[object] = []
    # The model was fitted on a plain matrix, whose columns treecf numbers.
    named = {column: f"f{place}" for place, column in enumerate(coder.columns)}
    for feature in world.features:
        columns = [named[column] for column in coder.columns_of[feature.name]]
        for column in columns:
            sizes[column] = 2.0 if feature.is_listed else float(feature.divisor)
            weights[column] = float(feature.weight)
        if feature.action is Action.FIXED:
            limits += [treecf.Freeze(column) for column in columns]
        elif feature.is_listed:
            limits.append(treecf.OneHot(tuple(columns)))
        else:
            limits.append(treecf.Range(columns[0], feature.minimum, feature.maximum))
        if not feature.is_listed and feature.action in (Action.UP, Action.DOWN):
            way = "increase" if feature.action is Action.UP else "decrease"
            limits.append(treecf.Monotone(columns[0], way))
    explainer = treecf.Explainer(
        world.model.fitted, constraints=limits, normalizers=sizes, weights=weights,
        value_policy=dict.fromkeys(sizes, "integer"),
    )  # fmt: skip
    target = treecf.Target.probability(op=">=", value=0.5)

    def find(person: State) -> Answer:
        row = coder.spread(coder.codes([person]))[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = explainer.explain(row, target, backend="exact", time_budget_s=SECONDS, seed=0)
        if isinstance(found, treecf.Infeasible):
            return Answer(None, found.proof == "certified", note=found.reason)
        # Now and then a number comes back between two whole ones.
        away = coder.away(row, found.x_cf)
        whole = bool((away == found.x_cf).all())
        return Answer(coder.gathered(away), whole and found.proof == "optimal", note=found.proof)

    return find


PEER = Peer("treecf, exact", Aim.MODEL, Compliance.NO, prepare, needs=("treecf",))
