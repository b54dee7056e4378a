"""The cover: a tree of boxes with every action set cheaper than the claim.

A box says for each feature whether it may stay without a direct action (`stays`), and which values its last direct action
may set (`targets`). Each leaf is closed for one of three reasons:

- `c`, cost (`narrowed`). Sound because every member of the box changes each feature that may not stay, and each of these
  costs at least its bound; the bounds are combined as the norm combines costs, which never falls in any of them.
- `r`, relaxed (`reachable`, `final`): if every action of the box is taken and values only accumulate, the goal with all
  laws and constraints is still false. Sound because every state of a path of the box lies in the accumulated sets, and
  its end in the product of the final ones.
- `o`, orders (`ordered`): every order of the box's actions was followed, and none meets the goal below the claim.

The parts of a split hold every member of the box, whatever the split is: a member stays or is set, and what it is set to
lies on one side of a cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from p2c_verify.facts import Judge
from p2c_verify.transitions import Measure, Node, Transitions
from p2c_verify.values import FAR, MISSING, NO, Feature, Sets, Spans
from p2c_verify.values import complement, intersect, require, union


class Choice(NamedTuple):
    """The open actions on one feature: whether it may stay, and its last targets."""

    stays: bool
    targets: Spans


Box = tuple[Choice, ...]


class Cover(Transitions):
    """The reasons for closing boxes below a claim; without a claim, any path counts."""

    def __init__(self, judge: Judge, claim: Measure | None) -> None:
        super().__init__(judge)
        self.claim = claim
        self.causes = frozenset(each.feature for each in self.problem.causes)

    def root(self) -> Box:
        """Return the box of every action set."""
        box = []
        for feature, own in zip(self.problem.features, self.initial, strict=True):
            spans = feature.targets
            if feature.index not in self.causes:
                spans = intersect(spans, complement(own))
            if feature.moves is None and feature.index not in self.causes:
                spans = feature.permitted(own[0][0])
            settable = feature.action in ("free", "up", "down")
            box.append(Choice(True, feature.admissible(spans) if settable else ()))
        return tuple(box)

    def is_cheaper(self, measure: Measure) -> bool:
        """Tell whether a measure is below the claim."""
        return self.claim is None or measure < self.claim

    def least(self, feature: Feature, targets: Spans) -> Measure:
        """Return a lower bound on the measure of changing a feature into a set of values.

        Sound because a feature that no cause governs has its initial value before its first direct action, and several
        moves are no shorter than one. Of the others nothing is assumed but that one action is taken.
        """
        place, (start, *_) = feature.index, self.initial[feature.index]
        lengths = [feature.length(start, end) for end in targets]
        known = place not in self.causes or feature.kind == "category"
        return self.measure(place, 1, min(lengths) if known else 0)

    def narrowed(self, box: Box) -> Box | None:
        """Return the box without targets that cost too much; None if all its members do.

        Sound because a target is dropped only if with the least of all other features it costs the claim: no member that
        sets it is cheaper.
        """
        if not all(stays or targets for stays, targets in box):
            return None
        pairs = list(zip(self.problem.features, box, strict=True))
        paid = {own: self.least(own, targets) for own, (stays, targets) in pairs if not stays}
        narrow = []
        for feature, (stays, targets) in pairs:
            rest = [price for own, price in paid.items() if own != feature]
            kept = self._affordable(feature, targets, rest) if targets else ()
            narrow.append(Choice(stays, kept))
        cheap = self.is_cheaper(self.combined(paid.values()))
        return tuple(narrow) if cheap and all(stays or kept for stays, kept in narrow) else None

    def _affordable(self, feature: Feature, targets: Spans, rest: list[Measure]) -> Spans:
        """Return the targets that leave a plan below the claim.

        The other features cost at least their lower bounds.
        """
        place, start, norm = feature.index, self.initial[feature.index][0][0], self.problem.norm
        least = self.combined([*rest, self.least(feature, targets)])
        if not self.is_cheaper(least):
            return ()
        flat = feature.kind == "category" or norm == "l0" or not self.rates[place]
        unknown = place in self.causes or start == MISSING or feature.moves is not None
        if self.claim is None or flat or unknown or least[0] < self.claim[0]:
            return targets
        budget = self.claim[1] - 1 - (0 if norm == "linf" else self.combined(rest)[1])
        reach = budget // self.rates[place]
        reach = math.isqrt(reach) if norm == "l2" else reach
        return feature.admissible(intersect(targets, ((start - reach, start + reach),)))

    def reachable(self, box: Box) -> Sets:
        """Return the delete-relaxed reachable values of each feature.

        Sound because the sets are a fixpoint: they hold the initial state and every target, and with a state all that an
        effect or a move makes of it, since the effects of a set include those of each of its states.
        """
        features = self.problem.features
        plain = [() if each.moves else box[each.index].targets for each in features]
        sets, grown = Sets(), list(map(union, self.initial, plain))
        while tuple(grown) != sets:
            sets = tuple(grown)
            for place, end in self.effects(self.judge.facts(sets))[0]:
                grown[place] = union(grown[place], [end])
            for place, feature in enumerate(features):
                for start, _ in sets[place] if feature.moves and box[place].targets else ():
                    ends = feature.admissible(feature.permitted(start))
                    grown[place] = union(grown[place], ends)
        return sets

    def close(self, box: Box) -> tuple[str, Box, Sets]:
        """Return the reason for closing a box, the narrowed box, and its final values.

        The reason is "c" or "r", or "" if there is none.

        An endogenous feature may end with any value that it reaches, another one only with a value that it is set to.
        """
        narrow = self.narrowed(box)
        if narrow is None:
            return "c", box, ()
        ends = list(self.reachable(narrow))
        for place, (stays, targets) in enumerate(narrow):
            if place not in self.causes:
                kept = self.initial[place] if stays else ()
                moved = self.problem.features[place].moves
                ends[place] = union(kept, intersect(ends[place], targets) if moved else targets)
        relaxed = not all(ends) or self.judge.facts(tuple(ends)).final == NO
        return "r" if relaxed else "", narrow, tuple(ends)

    def halves(self, box: Box, split: Any) -> list[Box]:
        """Return the two parts of a box that a token of the certificate names.

        Args:
            box: The box, narrowed.
            split: A feature's index (it stays, or is set), or a pair of index and cut: targets up to the cut, or above.
                The member that stays goes with the side of the initial value.
        """
        place, *cuts = split if isinstance(split, list) else [split]
        fits = all(isinstance(each, int) for each in [place, *cuts]) and 0 <= place < len(box)
        require(fits and len(cuts) < 2, f"the cover has no split {split!r}")
        stays, targets = box[place]
        halves = [Choice(stays, ()), Choice(False, targets)]
        for cut in cuts:
            left, snap = self.initial[place][0][0] <= cut, self.problem.features[place].admissible
            low, high = ((MISSING, cut),), ((cut + 1, FAR),)
            halves = [
                Choice(stays and left, snap(intersect(targets, low))),
                Choice(stays and not left, snap(intersect(targets, high))),
            ]
        return [(*box[:place], half, *box[place + 1 :]) for half in halves]

    def check(self, tokens: Sequence[object]) -> int:
        """Verify a cover given in preorder and return the number of its leaves."""
        waiting, leaves = [self.root()], 0
        for token in tokens:
            require(bool(waiting), "the cover goes on after its last leaf")
            reason, narrow, ends = self.close(waiting.pop())
            if token not in ("c", "r", "o"):
                waiting += reversed(self.halves(narrow, token))
                continue
            leaves += 1
            closed = self.ordered(narrow, ends) if token == "o" and not reason else token == reason
            require(closed, f"leaf {leaves} of the cover is not closed by {token!r}")
        require(not waiting, f"the cover ends with {len(waiting)} boxes open")
        return leaves

    def ordered(self, box: Box, ends: Sets, limit: float = math.inf) -> bool:
        """Tell whether no order of a box's actions reaches the goal below the claim.

        Features that no causal rule and no constraint reads or governs are left out of the orders: they have their final
        values from the start. Sound because a direct action on them changes no law and no constraint, so it can be moved
        anywhere; the goal is judged over all their final values, and their least cost is paid from the start.

        Args:
            box: The box, narrowed.
            ends: The values that each feature may end with.
            limit: Number of states after which the answer is False.
        """
        relevant, pairs = self.problem.relevant, list(zip(self.problem.features, box, strict=True))
        forced = {own: self.least(own, targets) for own, (stays, targets) in pairs if not stays}
        required = relevant.intersection(own.index for own in forced)
        base = [price for own, price in forced.items() if own.index not in relevant]
        targets = [each.targets if place in relevant else () for place, each in enumerate(box)]
        sets = [own if place in relevant else ends[place] for place, own in enumerate(self.initial)]
        ticket = count()
        heap = [(self.combined(base), next(ticket), Node(tuple(sets), {}))]
        seen: dict[object, list[Node]] = {}
        while heap:
            _, _, node = heappop(heap)
            rivals = seen.setdefault((node.sets, required.intersection(node.changes)), [])
            if any(rival.dominates(node) for rival in rivals):
                continue
            rivals.append(node)
            limit -= 1
            facts = self.judge.facts(node.sets)
            last = ((each.last, targets[place]) for place, each in node.changes.items())
            inside = required.issubset(node.changes) and all(intersect((a,), b) for a, b in last)
            if limit < 0 or (inside and facts.final):
                return False
            for _, _, _, after in self.following(facts, node, targets):
                total = self.combined([*base, self.total(after)])
                if self.is_cheaper(total):
                    heappush(heap, (total, next(ticket), after))
        return True
