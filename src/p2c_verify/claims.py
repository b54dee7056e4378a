"""The claim of a plan as a whole: digests, path, measure and cover."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from p2c_verify.cover import Cover
from p2c_verify.facts import Judge
from p2c_verify.forest import Forest, Records
from p2c_verify.problem import Problem, digest
from p2c_verify.transitions import Measure, Node, Transitions
from p2c_verify.values import NO, YES, Sets, VerifyError, choice, require

FORMAT = "p2c-certificate/1"
TOLERANCE = Fraction(1, 10**9)
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
    initial = [each.read(row[name]) for name, each in read.named.items()]
    return Judge(read, model, tuple(((value, value),) for value in initial))


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
    except KeyError as error:
        raise VerifyError(f"a document lacks the key {error}, or names no such thing") from None
    except Exception as error:  # a document of another shape may fail anywhere
        raise VerifyError(f"a document is malformed: {error}") from None


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
    parts = certificate["cover"], certificate["lemmas"]
    leaves = 0 if status == "already" else Cover(judge, measure).verify(*parts)
    claim = {"already": "the goal holds at the start", "infeasible": "no path exists"}.get(status)
    claim = (
        claim or f"the plan is a path of cost {float(plan['cost']):.10g}, and no path costs less"
    )
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
    listed: list[Document] = [{"constraint": each.text} for each in judge.broken]
    features = list(judge.problem.named.items())
    for cause in (each for each in judge.problem.causes if each.feature in judge.excused):
        (name, feature), own = features[cause.feature], judge.initial[cause.feature]
        fired = zip(cause.rules, judge.excused[cause.feature], strict=True)
        rules = [rule.text for rule, fires in fired if fires]
        # Where none fires, the value would need one of the rules whose heads hold it.
        headed = [rule.text for rule in cause.rules if feature.within(own, rule.head)]
        listed.append({"feature": name, "rules": rules or headed})
    return listed


def replay(judge: Judge, plan: Document) -> Measure | None:
    """Return the measure of a plan's path; None for an infeasible plan."""
    transitions, node, problem = Transitions(judge), Node(judge.initial, {}), judge.problem
    steps, status, seen = plan["steps"], plan["status"], set[Sets]()
    require((status == "found") == bool(steps), "a plan has steps exactly if one was found")
    records: list[tuple[str, Any, Any]] = [("initial", [], plan["initial"])]
    records += [(f"step {n}", each["actions"], each["state"]) for n, each in enumerate(steps, 1)]
    for place, (where, actions, state) in enumerate(records):
        for number, action in enumerate(actions):
            apart = number == 0 or judge.facts(node.sets).consistent != YES
            require(apart, f"{where}: a new step begins at a consistent state")
            node = _acted(transitions, node, action, f"{where}, action {number + 1}")
        _compare(problem, node.sets, state, where)
        facts, new = judge.facts(node.sets), node.sets not in seen
        require(facts.consistent == YES and new, f"{where}: an inconsistent or repeated state")
        due = YES if place == len(steps) and status != "infeasible" else NO
        require(facts.final == due, f"{where}: the goal must hold at the end only")
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


def _acted(transitions: Transitions, node: Node, action: Document, where: str) -> Node:
    """Return the node after one action of a plan."""
    problem, facts = transitions.problem, transitions.judge.facts(node.sets)
    require(facts.is_decided, f"{where}: the model's answers leave open what holds before")
    feature = problem.named[action["feature"]]
    place, (start, end) = feature.index, (feature.read(action[key]) for key in ("from", "to"))
    require(node.sets[place] == ((start, start),), f"{where}: 'from' is not the value before")
    single = feature.admissible(((end, end),))
    settable = feature.action in ("free", "up", "down")
    targets = [single if settable and each is feature else () for each in problem.features]
    matching = [
        after.at(place, (end, end))
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
