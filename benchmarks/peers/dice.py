"""DiCE (Mothilal, Sharma, Tan 2020): the `dice-ml` package, with its three methods for any model.

It is given what its interface takes: which features may vary, and the range that a feature may not leave.
"""

from __future__ import annotations

import random
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.peers.protocol import Aim, Answer, Compliance, Finder, Peer
from p2c._spec.feature import Action

if TYPE_CHECKING:
    from benchmarks.world import State, World
    from p2c._spec.feature import Feature


def prepare(world: World, *, method: str) -> Finder:
    """Return one of DiCE's searches on a world's model."""
    import dice_ml
    import pandas as pd
    from raiutils.exceptions import UserConfigValidationException

    warnings.simplefilter("ignore")
    numbers = [f.name for f in world.features if not f.is_listed]
    table = world.frame.assign(**{"accepted?": world.accepted.astype(int)})
    data = dice_ml.Data(dataframe=table, continuous_features=numbers, outcome_name="accepted?")
    explainer = dice_ml.Dice(
        data, dice_ml.Model(model=world.model, backend="sklearn"), method=method
    )
    free = [f.name for f in world.features if f.action is not Action.FIXED]
    seeded: dict[str, Any] = {"random_seed": 0} if method == "random" else {}

    def find(person: State) -> Answer:
        random.seed(0)
        np.random.seed(0)
        ranges = {f.name: _range(f, person[f.name]) for f in world.features if not f.is_listed}
        try:
            found = explainer.generate_counterfactuals(
                pd.DataFrame([person])[list(person)], total_CFs=1, desired_class=1,
                features_to_vary=free, permitted_range=ranges, verbose=False, **seeded,
            )  # fmt: skip
        except UserConfigValidationException as error:
            return Answer(None, note=str(error))
        ends = found.cf_examples_list[0].final_cfs_df
        if ends is None or not len(ends):
            return Answer(None, note="no counterfactual returned")
        end = ends.iloc[0]
        return Answer({f.name: _value(f, end[f.name]) for f in world.features})

    return find


def _range(feature: Feature, own: Any) -> list[Any]:
    low = own if feature.action is Action.UP else feature.minimum
    high = own if feature.action is Action.DOWN else feature.maximum
    return [low, high]


def _value(feature: Feature, found: Any) -> str | int:
    return str(found) if feature.is_listed else round(float(found))


PEERS = {
    f"dice-{method}": Peer(
        f"DiCE, {method}",
        Aim.MODEL,
        Compliance.INDIRECTLY,
        partial(prepare, method=method),
        needs=("dice_ml",),
    )
    for method in ("random", "genetic", "kdtree")
}
