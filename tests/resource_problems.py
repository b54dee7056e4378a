"""Small random problems with resources, clocks and named actions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.arithmetic_problems import arithmetic_problem
from tests.strategies import random_problem

if TYPE_CHECKING:
    import random

Document = dict[str, Any]
AMOUNTS = (0, 1, 1, 2, 3, 0.5)


def resource_problem(rng: random.Random) -> tuple[Document, Document]:
    """Return a small problem with resources or named actions, and a row for it."""
    make = arithmetic_problem if rng.random() < 0.25 else random_problem
    problem, row = make(rng, tiny=True)
    author = _Author(rng, problem, row)
    author.write()
    return problem, row


class _Author:
    """Adds resources, clocks and named actions to a problem."""

    def __init__(self, rng: random.Random, problem: Document, row: Document) -> None:
        self.rng, self.problem, self.row = rng, problem, row
        self.features: dict[str, Document] = problem["features"]
        self.own = [name for name, keys in self.features.items() if "equation" not in keys]

    def write(self) -> None:
        rng, problem = self.rng, self.problem
        self.resources = ["months", "dollars"][: rng.choice((0, 1, 1, 2))]
        additive = problem.get("norm", "l1") in ("l0", "l1")
        problem["resources"] = {}
        for name in self.resources:
            keys: Document = {}
            if rng.random() < 0.35:
                keys["limit"] = rng.choice((1, 2, 3, 4, 6, 0.5))
            if additive and rng.random() < 0.3:
                keys["weight"] = rng.choice((0.1, 0.5, 1, 0.02))
            problem["resources"][name] = keys
        for name in self.own:
            if self.resources and rng.random() < 0.7:
                self.features[name]["uses"] = self._uses(name)
        self._actions()
        if self.resources and rng.random() < 0.45:
            self._clock()
        if rng.random() < 0.35:
            problem["minimize"] = self._minimize()
        if rng.random() < 0.12:
            problem["max_actions"] = rng.choice((1, 2, 3))

    def _minimize(self) -> str | list[str]:
        objectives = ["cost", "actions", *self.resources]
        if self.rng.random() < 0.5:
            return self.rng.choice(objectives)
        return self.rng.sample(objectives, self.rng.randint(1, len(objectives)))

    def _uses(self, name: str) -> Document:
        uses = {}
        for resource in self.resources:
            if self.rng.random() < 0.7:
                use: Document = {"fixed": self.rng.choice(AMOUNTS)}
                if name and self.features[name]["type"] != "category" and self.rng.random() < 0.6:
                    use["per_unit"] = self.rng.choice((0.25, 0.5, 1, 2))
                uses[resource] = use
        return uses

    def _actions(self) -> None:
        rng, actions = self.rng, {}
        for name in ("wait", "swap", "help")[: rng.choice((0, 1, 1, 2))]:
            keys: Document = {}
            if name != "wait" or rng.random() < 0.3:
                for feature in rng.sample(self.own, min(len(self.own), rng.choice((1, 1, 2)))):
                    self._change(keys, feature)
            if self.resources and rng.random() < 0.8:
                keys["uses"] = self._uses("")
            if rng.random() < 0.4:
                keys["cost"] = rng.choice((0.1, 0.5, 1, 0.02))
            if rng.random() < 0.4:
                keys["repeat"] = rng.choice((2, 3))
            if rng.random() < 0.4:
                keys["when"] = self._condition()
            actions[name] = keys
        self.problem["actions"] = actions

    def _change(self, keys: Document, name: str) -> None:
        feature, rng = self.features[name], self.rng
        if feature["type"] in ("int", "float") and rng.random() < 0.5:
            keys.setdefault("adds", {})[name] = rng.choice((1, -1, 2, -2, 3))
        else:
            keys.setdefault("sets", {})[name] = rng.choice(_values(feature))
        if rng.random() < 0.3 and "action" not in feature:
            feature["action"] = "effect"

    def _condition(self) -> str:
        name = self.rng.choice(self.own)
        feature = self.features[name]
        atom = name if re.fullmatch(r"[a-z]\w*", name) else f"'{name}'"
        value = self.rng.choice(_values(feature))
        if feature["type"] in ("int", "float"):
            sign = self.rng.choice(("<", ">=", "=<", ">"))
            return f"{atom}(X,W), W {sign} {value}"
        text = value if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"
        said = f"{atom}(X,{text})"
        return f"not {said}" if self.rng.random() < 0.4 else said

    def _clock(self) -> None:
        rng = self.rng
        resource = rng.choice(self.resources)
        equation = rng.choice((f"floor({resource} / 2)", resource, f"3 - {resource}"))
        self.features["clock"] = {"type": rng.choice(("int", "float")), "equation": equation}
        if rng.random() < 0.6:
            self.row["clock"] = rng.choice((0, 1, 2, 5))
        limit, sign = rng.choice((0, 1, 1, 2, 3)), rng.choice((">=", ">=", "=<", "<"))
        literal = f"clock(X,K), K {sign} {limit}"
        if rng.random() < 0.6:
            self.problem["goal"] += f", {literal}"
        elif rng.random() < 0.4:
            self.problem["rules"] += f"\n:- {literal}."
        else:
            lines = self.problem["rules"].split("\n")
            bodies = [n for n, line in enumerate(lines) if ":-" in line and line.endswith(".")]
            if bodies:
                chosen = rng.choice(bodies)
                lines[chosen] = f"{lines[chosen][:-1]}, {literal}."
                self.problem["rules"] = "\n".join(lines)


def _values(feature: Document) -> list[Any]:
    if "values" in feature:
        return list(feature["values"])
    low, high, step = feature["min"], feature["max"], feature.get("step", 1)
    if feature["type"] == "float" and "step" not in feature:
        return [low, high]
    values = []
    while low <= high:
        values.append(low)
        low += step
    return values
