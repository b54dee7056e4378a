"""The facts of a problem for `plan.lp` and `run.lp`: the same for every person."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING

from p2c.engines.feature_facts import feature_facts
from p2c.engines.lengths import minimizes_actions
from p2c.engines.parts import MOST_MOMENTS
from p2c.rules.theory import Test

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c.engines.parts import Component, Parts
    from p2c.rules.theory import Condition

Scopes = dict[int, set[str]]
"""For each rule, where it is asked about: on the way in a component, by constraints, by the goal."""


def problem_facts(parts: Parts) -> str:
    """Return the facts, one a line, each feature and rule introduced by its name or text."""
    lines = ["supported."] if parts.supported else []
    lines += ["fewest_actions."] if minimizes_actions(parts.space) else []
    for layout in parts.layouts.values():
        lines += [f"% {layout.axis.feature.name}", *feature_facts(parts, layout)]
    scopes = _scopes(parts)
    tests = number_tests(parts, scopes)
    for rule, where in sorted(scopes.items()):
        lines += [*_comment(parts, rule), *_rule(parts, rule, where, tests)]
    lines += _tests(parts, scopes, tests)
    for number, component in enumerate(parts.components):
        lines += _component(parts, number, component, tests)
    return "\n".join(lines) + "\n"


def _comment(parts: Parts, rule: int) -> Iterator[str]:
    text = (
        parts.space.texts[rule] if rule < len(parts.space.texts) else parts.space.theory.goal_text
    )
    yield from (f"% {line}" for line in text.splitlines())


def _scopes(parts: Parts) -> Scopes:
    found: Scopes = defaultdict(set)
    goal = len(parts.space.clauses) - 1
    for rule in parts.with_calls([goal]):
        found[rule].add("goal")
    for rule in parts.with_calls(parts.constraints):
        found[rule].add("limit")
    for number, component in enumerate(parts.components):
        for rule in parts.with_calls(_own_rules(parts, component)):
            found[rule].add(f"way({number})")
    return found


def _own_rules(parts: Parts, component: Component) -> list[int]:
    """Return the rules that effects in a component depend on."""
    rules = [rule for index in component.members for rule in parts.causes(index)]
    if parts.supported:
        members = set(component.members)
        rules += [rule for rule, reads in parts.constraints.items() if reads & members]
    return rules


def number_tests(parts: Parts, scopes: Scopes) -> dict[Test, int]:
    """Return a number for each test that a body makes."""
    bodies = (parts.space.clauses[rule].body for rule in sorted(scopes))
    tests = (each for body in bodies for each in body if isinstance(each, Test))
    return {test: number for number, test in enumerate(dict.fromkeys(tests))}


def problem_tests(parts: Parts) -> dict[Test, int]:
    """Return the numbers of a problem's tests."""
    return number_tests(parts, _scopes(parts))


def _rule(parts: Parts, rule: int, scopes: set[str], tests: dict[Test, int]) -> Iterator[str]:
    clause = parts.space.clauses[rule]
    yield from (f"rule({rule},{scope})." for scope in sorted(scopes))
    for condition in clause.body:
        yield f"body({rule},{_condition(parts, condition, tests)})."
        if not isinstance(condition, Test) and condition.negated:
            number = parts.decision[condition.decision]
            yield from (f"uses({number},{scope})." for scope in sorted(scopes))
    if rule == len(parts.space.clauses) - 1:
        yield f"goal({rule})."
    elif rule in parts.constraints:
        yield f"constraint({rule})."
        yield from (f"reads({rule},{index})." for index in sorted(parts.constraints[rule]))
    elif rule in parts.decided:
        yield f"defines({rule},{parts.decided[rule]})."
    else:
        yield from _cause(parts, rule)


def _condition(parts: Parts, condition: Condition, tests: dict[Test, int]) -> str:
    if isinstance(condition, Test):
        return f"test({tests[condition]})"
    number = parts.decision[condition.decision]
    return f"fails({number})" if condition.negated else f"call({number})"


def _cause(parts: Parts, rule: int) -> Iterator[str]:
    index = parts.caused[rule]
    layout, masks = parts.layouts[index], parts.space.head_masks[index]
    yield f"causes({rule},{index})."
    for number, region in enumerate(layout.regions):
        if masks[layout.axis.cell(region[0])] >> rule & 1:
            yield f"head({rule},{number})."


def _tests(parts: Parts, scopes: Scopes, tests: dict[Test, int]) -> Iterator[str]:
    used: dict[Test, set[str]] = {test: set() for test in tests}
    for rule, where in scopes.items():
        for test in parts.space.clauses[rule].body:
            if isinstance(test, Test):
                used[test] |= {scope.partition("(")[0] for scope in where}
    for test, number in tests.items():
        layout = parts.layouts[parts.space.index[test.feature]]
        yield from (f"tests({number},{layout.index},{scope})." for scope in sorted(used[test]))
        for place, region in enumerate(layout.regions):
            if layout.axis.passes(test, region[0]):
                yield f"passes({number},{place})."


def _component(
    parts: Parts, number: int, component: Component, tests: dict[Test, int]
) -> Iterator[str]:
    members = component.members
    yield f"limit({number},{min(parts.moments(component), MOST_MOMENTS)})."
    yield from (f"component({index},{number})." for index in members)
    settable = [index for index in members if parts.layouts[index].settable]
    if any(parts.is_loose(index) for index in settable):
        yield f"loose({number})."
    if not parts.supported:
        for one, other in product(settable, repeat=2):
            if one < other and parts.commute(one, other):
                yield f"commutes({one},{other})."
    block_of = {index: block for block in component.blocks for index in block}
    for governed in parts.space.governed:
        if governed.index in members:
            if governed.index not in block_of:
                yield f"single({governed.index})."
            for other in sorted(governed.above):
                same = block_of.get(other, ()) == block_of.get(governed.index)
                yield f"{'inner' if same else 'above'}({governed.index},{other})."
    for place, block in enumerate(component.blocks):
        yield from _block(parts, f"b({number},{place})", number, block, tests)


def _block(
    parts: Parts, name: str, number: int, block: tuple[int, ...], tests: dict[Test, int]
) -> Iterator[str]:
    yield f"block({name},{number})."
    yield from (f"member({name},{index})." for index in block)
    rules = [rule for index in block for rule in parts.causes(index)]
    if parts.supported:
        rules = _own_rules(parts, parts.components[number])
    outside = set()
    for rule in parts.with_calls(rules):
        yield f"weighs({name},{rule})."
        for test in parts.space.clauses[rule].body:
            if isinstance(test, Test) and parts.space.index[test.feature] not in block:
                outside.add(tests[test])
    yield from (f"outer({name},{test})." for test in sorted(outside))
    slots = [parts.layouts[index].slots for index in block]
    nodes = {slots_of: node for node, slots_of in enumerate(product(*slots))}
    for slots_of, node in nodes.items():
        yield f"node({name},{node})."
        for place, (index, slot) in enumerate(zip(block, slots_of, strict=True)):
            yield f"stands({name},{node},{index},{slot})."
            for end in slots[place]:
                if end != slot:
                    other = nodes[(*slots_of[:place], end, *slots_of[place + 1 :])]
                    yield f"turn({name},{node},{index},{end},{other})."
