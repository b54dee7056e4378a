"""The cover: a tree of boxes with every action set cheaper than the claim.

A box says for each feature whether it may stay without a direct action (`stays`), and which values its last direct action
may set (`targets`). Each leaf is closed for one of two reasons:

- `p`, propagation (`close`). Members that cost the claim (`narrowed`), that a lemma rules out (`Lemma.applied`), or whose end
  no order can reach with the goal true (`reachable`, `Judge.narrowed`) are dropped until nothing changes; none is left.
- `o`, orders (`ordered`): every order of the box's actions was followed, and none meets the goal below the claim.

The parts of a split hold every member of the box, whatever the split is: a member stays or is set, and what it is set to
lies on one side of a cut. A lemma is a box without members, which has a cover of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from p2c_verify.facts import Judge
from p2c_verify.transitions import Measure, Node, Transitions
from p2c_verify.values import FAR, MISSING, Feature, Sets, Spans, VerifyError
from p2c_verify.values import choice, complement, exact, intersect, replaced, require, union


class Choice(NamedTuple):
    """The open actions on one feature: whether it may stay, and its last targets."""

    stays: bool
    targets: Spans


Box = tuple[Choice, ...]


class Lemma:
    """A box whose members all cost the claim, as the choices that it restricts."""

    def __init__(self, choices: dict[int, Choice]) -> None:
        self.choices = choices

    def applied(self, box: Box) -> Box | None:
        """Return a box without members of the lemma's box, None if it has no others.

        Sound because members that choose for one feature what the lemma holds, and for all others too, are in its box.
        """
        rests = {place: rest(box[place], own) for place, own in self.choices.items()}
        outside = [place for place, (stays, targets) in rests.items() if stays or targets]
        if len(outside) == 1:
            return replaced(box, outside[0], rests[outside[0]])
        return box if outside else None


def _choice(stays: Any, spans: Iterable[Sequence[Any]]) -> Choice:
    """Return a choice from its JSON."""
    return Choice(stays is True, tuple((exact(low, 1), exact(high, 1)) for low, high in spans))


def rest(choice: Choice, other: Choice) -> Choice:
    """Return the part of a choice outside another one."""
    stays = choice.stays and not other.stays
    return Choice(stays, intersect(choice.targets, complement(other.targets)))


class Cover(Transitions):
    """The reasons for closing boxes below a claim; without a claim, any path counts."""

    def __init__(self, judge: Judge, claim: Measure | None) -> None:
        super().__init__(judge)
        self.claim = claim
        self.causes = self.problem.endogenous

    def root(self) -> Box:
        """Return the box of every action set."""
        box = []
        for feature, ((own, _), *_) in zip(self.problem.features, self.initial, strict=True):
            spans = feature.targets
            if feature.index not in self.causes:
                moving = complement(((own, own),)) if feature.moves else feature.permitted(own)
                spans = intersect(spans, moving)
            box.append(Choice(True, feature.admissible(spans) if feature.is_settable else ()))
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
        total, narrow = self.combined(paid.values()), list[Choice]()
        if not self.is_cheaper(total):
            return None
        for feature, (stays, targets) in pairs:
            others = (price for own, price in paid.items() if own != feature)
            rest = self.combined(others) if feature in paid else total
            narrow.append(Choice(stays, self._affordable(feature, targets, rest)))
        return tuple(narrow) if all(stays or kept for stays, kept in narrow) else None

    def _affordable(self, feature: Feature, targets: Spans, rest: Measure) -> Spans:
        """Return the targets that leave a plan below the claim.

        The other features cost at least their lower bounds.
        """
        place, start, norm = feature.index, self.initial[feature.index][0][0], self.problem.norm
        if not targets or self.claim is None:
            return targets
        least = self.combined([rest, self.least(feature, targets)])
        if not self.is_cheaper(least):
            return ()
        flat = feature.kind == "category" or norm == "l0" or not self.rates[place]
        unknown = place in self.causes or start == MISSING or feature.moves is not None
        if flat or unknown or least[0] < self.claim[0]:
            return targets
        budget = self.claim[1] - 1 - (0 if norm == "linf" else rest[1])
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
            grown = list(self.judge.recomputed(tuple(grown)))
            sets = tuple(grown)
            effects, _ = self.effects(self.judge.facts(sets)) if self.problem.causes else ((), 0)
            for place, end in effects:
                grown[place] = union(grown[place], [end])
            for place, feature in enumerate(features):
                for start, _ in sets[place] if feature.moves and box[place].targets else ():
                    ends = feature.admissible(feature.permitted(start))
                    grown[place] = union(grown[place], ends)
        return sets

    def ends(self, box: Box) -> Sets:
        """Return the values with which each feature may end.

        An endogenous feature may end with any value that it reaches, another one only with a value that it is set to.
        """
        ends = list(self.reachable(box))
        for place, (stays, targets) in enumerate(box):
            if place not in self.causes:
                kept = self.initial[place] if stays else ()
                moved = self.problem.features[place].moves
                ends[place] = union(kept, intersect(ends[place], targets) if moved else targets)
        return self.judge.recomputed(tuple(ends))

    def close(self, box: Box, lemmas: Iterable[Lemma] = ()) -> tuple[Box, Sets] | None:
        """Return the members that propagation leaves and their ends, None without any."""
        while True:
            narrow = self.narrowed(box)
            for lemma in lemmas:
                narrow = narrow and lemma.applied(narrow)
            ends = narrow and self.ends(narrow)
            ends = self.judge.narrowed(ends) if ends and all(ends) else None
            if not narrow or ends is None:
                return None
            box = tuple(
                choice if place in self.causes else self._ending(place, choice, ends[place])
                for place, choice in enumerate(narrow)
            )
            if box == narrow:
                return box, ends

    def _ending(self, place: int, choice: Choice, ends: Spans) -> Choice:
        """Return the choices that leave a feature with one of these values at the end."""
        stays = choice.stays and bool(intersect(self.initial[place], ends))
        return Choice(stays, self.problem.features[place].passing(choice.targets, ends))

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
        halves = [Choice(box[place].stays, ()), Choice(False, box[place].targets)]
        for cut in cuts:
            sides = ((MISSING, cut),), ((cut + 1, FAR),)
            halves = [self._ending(place, box[place], side) for side in sides]
        return [replaced(box, place, half) for half in halves]

    def check(self, root: Box, tokens: Sequence[Any], lemmas: Sequence[Lemma]) -> int:
        """Verify a cover given in preorder and return the number of its leaves."""
        waiting, leaves = [root], 0
        for token in tokens:
            require(bool(waiting), "the cover goes on after its last leaf")
            box, (reason, *cited) = waiting.pop(), token if isinstance(token, list) else [token]
            named = isinstance(reason, str)
            used = [lemmas[each] for each in cited if each >= 0] if named else []
            left = self.close(box, used)
            if named:
                leaves += 1
                by_orders = choice(reason, "p o") == "o"
                closed = left is None or (by_orders and self.ordered(*left))
                require(closed, f"leaf {leaves} of the cover is not closed by {token!r}")
            elif left is None:
                raise VerifyError("the cover splits a closed box")
            else:
                waiting += reversed(self.halves(left[0], token))
        require(not waiting, f"the cover ends with {len(waiting)} boxes open")
        return leaves

    def verify(self, tokens: Sequence[Any], lemmas: Iterable[Sequence[Any]]) -> int:
        """Verify the lemmas, then the cover of all action sets; return the leaves."""
        proved, leaves = list[Lemma](), 0
        for data, own in lemmas:
            lemma = Lemma({place: _choice(*parts) for place, *parts in data})
            box = self.root()
            fits = len(lemma.choices) == len(data) and {*lemma.choices} <= {*range(len(box))}
            require(fits, "a lemma is malformed")
            for place, (stays, targets) in lemma.choices.items():
                kept = intersect(box[place].targets, targets)
                box = replaced(box, place, Choice(box[place].stays and stays, kept))
            leaves += self.check(box, own, proved)
            proved.append(lemma)
        return leaves + self.check(self.root(), tokens, proved)

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
        seen = set[object]()
        while heap:
            _, _, node = heappop(heap)
            key = (node.sets, frozenset(node.changes.items()))
            if key in seen:
                continue
            seen.add(key)
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
