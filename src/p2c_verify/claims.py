"""The claim of a plan as a whole: digests, path, measure and cover."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from p2c_verify.cover import Cover
from p2c_verify.facts import TOLERANCE, Judge
from p2c_verify.forest import Forest, Records
from p2c_verify.problem import Problem, Rule, digest
from p2c_verify.transitions import Measure, Node, Transitions
from p2c_verify.values import NO, YES, Sets, VerifyError, choice, intersect, require

FORMAT = "p2c-certificate/1"
Document = Mapping[str, Any]


@dataclass(frozen=True)
class Report:
    """A verified claim, and the recorded answers of the model that it rests on."""

    claim: str
    leaves: int
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"verified: {self.claim}", f"boxes closed: {self.leaves:,}"]
        return "\n".join(lines + [f"assumed: {each}" for each in self.assumptions])


def digests(problem: Document, row: Document) -> dict[str, str]:
    """Return the digests of the problem without its model, the model, and the row."""
    rest = {key: value for key, value in problem.items() if key != "model"}
    return {"problem": digest(rest), "model": digest(problem["model"]), "row": digest(row)}


def opened(
    problem: Document,
    row: Document,
    records: Records,
    forest: Callable[..., Forest] = Forest,
) -> Judge:
    """Return the question of one person, with the model's recorded answers."""
    read = Problem(problem, row)
    model = None if problem["model"] is None else forest(problem["model"], read, records)
    return Judge(read, model, row)


def verify(problem: Document, row: Document, plan: Document, certificate: Document) -> Report:
    """Verify that a plan is a cheapest path, or that there is no path.

    Args:
        problem: The problem in canonical form, as `problem.parse` reads it.
        row: The person's value of every feature.
        plan: The plan as JSON.
        certificate: The certificate as JSON.

    Returns:
        The verified claim with its assumptions.

    Raises:
        VerifyError: Anything is malformed, false, or not verified.
    """
    try:
        return _verify(problem, row, plan, certificate)
    except VerifyError:
        raise
    except Exception as error:  # a document of another shape may fail anywhere
        raise VerifyError(f"a document is malformed: {error!r}") from None


def _verify(problem: Document, row: Document, plan: Document, certificate: Document) -> Report:
    choice(certificate["format"], FORMAT)
    status = choice(plan["status"], "already found infeasible")
    for name, value in {**digests(problem, row), "status": status}.items():
        require(certificate[name] == value, f"the certificate is for another {name}")
    require(plan["problem"] == problem["name"], "the plan is for another problem")
    require(plan["norm"] == problem["norm"], "the plan is for another norm")
    answers = {tuple(key): yes is True for key, yes in certificate["answers"]}
    points = {(line, value): sizes for line, value, sizes in certificate["points"]}
    judge = opened(problem, row, Records(answers, points))
    listed, due = (sorted(map(digest, each)) for each in (plan["exceptions"], exceptions(judge)))
    require(listed == due, "the exceptions are not those of the initial state")
    measure = replay(judge, plan)
    optimal = status != "found" or plan["optimal"] is True
    require(optimal, "the plan does not claim to be optimal")
    cover, lemmas = certificate["cover"], certificate["lemmas"]
    leaves = 0 if status == "already" else Cover(judge, measure).verify(cover, lemmas)
    claim = {"already": "the goal holds at the start", "infeasible": "no path exists"}.get(status)
    cost = float(plan["cost"] or 0)
    claim = claim or f"the plan is a path of cost {cost:.10g}, and no path costs less"
    return Report(claim, leaves, tuple(assumptions(judge.forest)) if judge.forest else ())


def assumptions(forest: Forest) -> Iterator[str]:
    """Yield the recorded answers and curve points on which the verification relied."""
    for key in sorted(forest.used, key=repr):
        verb = "accepts" if forest.records.answers[key] else "refuses"
        yield f"the model {verb} the state {[*key]}"
    for line, value in sorted(forest.seen):
        feature = forest.axes[forest.lines[line][0]].feature
        sizes = [float(each) for each in forest.records.points[line, value]]
        yield f"the model's curve of {feature.name} is {sizes} at {float(feature.write(value)):g}"


def exceptions(judge: Judge) -> list[Document]:
    """Return the exceptions of the initial state, as a plan lists them."""
    listed = list[Document]()
    for part in judge.broken:
        if isinstance(part, Rule):
            listed.append({"constraint": part.text})
            continue
        name, own = judge.problem.features[part.feature].name, judge.initial[part.feature]
        rules = [rule.text for rule in part.rules if judge.start.truth(rule.body) == YES]
        # Where none fires, the value would need one of the rules whose heads hold it.
        headed = [rule.text for rule in part.rules if intersect(own, rule.head)]
        listed.append({"feature": name, "rules": rules or headed})
    for equation, due in judge.contradicted:
        given, computed = judge.initial[equation.feature.index][0][0], equation.feature.write(due)
        record = {"feature": equation.feature.name, "equation": equation.text}
        listed.append(record | {"given": equation.feature.write(given), "computed": computed})
    return listed


def replay(judge: Judge, plan: Document) -> Measure | None:
    """Return the measure of a plan's path; None for an infeasible plan."""
    transitions, node, problem = Transitions(judge), Node(judge.initial, {}), judge.problem
    steps, status, seen = plan["steps"], plan["status"], set[Sets]()
    require((status == "found") == bool(steps), "a plan has steps exactly if one was found")
    records: list[tuple[str, Any, Any]] = [("initial", [], plan["initial"])]
    records += [(f"step {n}", each["actions"], each["state"]) for n, each in enumerate(steps, 1)]
    for place, (where, actions, state) in enumerate(records):
        due: list[Document] = []
        for number, action in enumerate(actions):
            spot = f"{where}, action {number + 1}"
            if due:
                same = all(action[key] == value for key, value in due.pop(0).items())
                require(same, f"{spot}: a computed feature changes in another way")
                continue
            apart = number == 0 or judge.facts(node.sets).consistent != YES
            require(apart, f"{spot}: a new step begins at a consistent state")
            before, node = node, _acted(transitions, node, action, spot)
            due = _recomputed(problem, before.sets, node.sets)
        require(not due, f"{where}: a computed feature changes, which is not listed")
        _compare(problem, node.sets, state, where)
        facts, new = judge.facts(node.sets), node.sets not in seen
        require(facts.consistent == YES and new, f"{where}: an inconsistent or repeated state")
        met = YES if place == len(steps) and status != "infeasible" else NO
        require(facts.final == met, f"{where}: the goal must hold at the end only")
        seen.add(node.sets)
    if status == "infeasible":
        require(plan["cost"] is None, "an infeasible plan has no cost")
        return None
    _compare(problem, node.sets, plan["counterfactual"], "counterfactual")
    measure, power = transitions.total(node), 2 if problem.norm == "l2" else 1
    cost, exact = Fraction(plan["cost"]), Fraction(measure[1], transitions.common)
    right = cost >= 0 and _is_close(cost**power, exact, power)
    require(right, "the plan does not cost what it says")
    return measure


def _compare(problem: Problem, sets: Sets, recorded: Document, where: str) -> None:
    """Refuse a recorded state that is not the present one."""
    require(set(recorded) == set(problem.named), f"{where}: a state gives every feature once")
    state = tuple(((each.read(recorded[name]),) * 2,) for name, each in problem.named.items())
    require(state == sets, f"{where}: the state is not as recorded")


def _recomputed(problem: Problem, before: Sets, after: Sets) -> list[Document]:
    """Return the changes of computed features, as a plan lists them."""
    changes: list[Document] = []
    for equation in problem.equations:
        feature = equation.feature
        start, end = (feature.write(sets[feature.index][0][0]) for sets in (before, after))
        change = {"kind": "causal", "feature": feature.name, "from": start, "to": end}
        changes += [change | {"cost": 0, "because": [equation.text]}] if start != end else []
    return changes


def _acted(transitions: Transitions, node: Node, action: Document, where: str) -> Node:
    """Return the node after one action of a plan."""
    problem, facts = transitions.problem, transitions.judge.facts(node.sets)
    require(facts.is_decided, f"{where}: the model's answers leave open what holds before")
    feature = problem.named[action["feature"]]
    place, (start, end) = feature.index, (feature.read(action[key]) for key in ("from", "to"))
    require(node.sets[place] == ((start, start),), f"{where}: 'from' is not the value before")
    single = feature.admissible(((end, end),))
    able = feature.is_settable
    targets = [single if able and each is feature else () for each in problem.features]
    matching = [
        transitions.moved(after, place, (end, end))
        for kind, changed, (low, high), after in transitions.following(facts, node, targets)
        if (kind, changed) == (action["kind"], place) and low <= end <= high
    ]
    require(bool(matching and single), f"{where}: no such action can happen here")
    distance = Fraction(feature.length((start, start), (end, end)), feature.unit)
    price = feature.weight * (1 if problem.norm == "l0" else distance)
    due = price if action["kind"] == "direct" else Fraction(0)
    require(_is_close(Fraction(action["cost"]), due), f"{where}: the cost is another")
    for cause, fired in zip(problem.causes, facts.fired, strict=True):
        rules = {rule.text for rule, fires in zip(cause.rules, fired, strict=True) if fires}
        other = cause.feature != place or action["kind"] == "direct"
        require(other or set(action["because"]) == rules, f"{where}: 'because' is wrong")
    return matching[0]


def _is_close(one: Fraction, other: Fraction, power: int = 1) -> bool:
    """Tell whether two costs to a power are equal up to a relative error of 1e-9."""
    return abs(one - other) <= power * TOLERANCE * max(abs(one), abs(other))
