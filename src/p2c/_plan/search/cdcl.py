"""Learn clauses from conflicts (CDCL), over flat arrays.

The algorithm is that of MiniSat (Eén and Sörensson, SAT 2003): two watched literals, first unique implication point, restarts. A variable v has the literals 2v (true) and 2v + 1 (false).

One linear constraint may hold under a literal, its guard: the weights of the true literals sum up to a limit at most. Its
literals are given in chains, each implied by the next one of its chain by clauses (the levels of an order encoding). So a
literal weighs as much as its chain up to it, and an explanation needs one literal of a chain.

A clause at `ref` of the arena is its size, its LBD (0 if it was added, not learned), the next clause watching its first and
its second literal, then its literals, the watched ones first.

The functions only index, so that they run on lists as they stand and on arrays when numba has compiled them. All of them
are in this module because numba keeps compiled functions by file.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, NewType

if TYPE_CHECKING:
    from collections.abc import Callable, MutableSequence

Literal = NewType("Literal", int)
ClauseRef = NewType("ClauseRef", int)

(
    TRAIL, HEAD, LEVELS, END, HEAP, CONFLICTS, WORK, LEARNED, MOST_LEARNED, OUT, LBD, ASSUMED, PREFERRED,
    TOTAL, LIMIT, GUARD, ITEMS, CHAINS, FIELDS,
) = range(19)  # fmt: skip
"""Places of the counters.

Assigned literals, propagated ones, decisions; the end of the arena; the size of the heap; conflicts, visited clauses, learned
clauses and how many of these are kept; the size and the LBD of the clause or core that is handed out; the number of assumed and
of preferred literals. Of the linear constraint: what its true literals weigh, the limit, the literal that it holds under (0 for
none), and the numbers of its literals and of their chains.
"""

BY_WEIGHT = -1
"""The linear constraint as a reason or as a conflict."""

SATISFIED, CORE, PAUSED, FULL = 1, 2, 3, 4
"""Results of `search`: a model, a core, no more work, or no more room."""

RESCALE = 1e100
DECAY = 1 / 0.95
RESTART = 64
KEPT_LBD = 2


class State(NamedTuple):
    """Arrays of a solver, changed in place."""

    arena: MutableSequence[int]
    watching: MutableSequence[int]
    value: MutableSequence[int]
    level: MutableSequence[int]
    reason: MutableSequence[int]
    trail: MutableSequence[int]
    starts: MutableSequence[int]
    seen: MutableSequence[int]
    phase: MutableSequence[int]
    heap: MutableSequence[int]
    place: MutableSequence[int]
    out: MutableSequence[int]
    noted: MutableSequence[int]
    weight: MutableSequence[int]
    items: MutableSequence[int]
    """Literals of the linear constraint, chain after chain, the heaviest chain first."""
    prefix: MutableSequence[int]
    """For each item, the weight of its chain up to it."""
    slot: MutableSequence[int]
    """For each literal of the linear constraint, its place among the items."""
    first: MutableSequence[int]
    """For each chain, the place of its first item, and at last the number of items."""
    chain: MutableSequence[int]
    """For each item, the number of its chain."""
    position: MutableSequence[int]
    buffer: MutableSequence[int]
    activity: MutableSequence[float]
    counter: MutableSequence[int]
    step: MutableSequence[float]


def assign(s: State, literal: int, reason: int) -> None:
    """Make a literal true."""
    s.value[literal] = 1
    s.value[literal ^ 1] = -1
    var = literal >> 1
    s.level[var] = s.counter[LEVELS]
    s.reason[var] = reason
    s.position[var] = s.counter[TRAIL]
    s.trail[s.counter[TRAIL]] = literal
    s.counter[TRAIL] += 1
    s.counter[TOTAL] += s.weight[literal]


def propagate(s: State) -> int:
    """Propagate the clauses and the linear constraint; return a conflict, or 0."""
    while True:
        conflict = propagate_clauses(s)
        if conflict:
            return conflict
        if not s.counter[GUARD] or s.value[s.counter[GUARD]] <= 0:
            return 0
        before = s.counter[TRAIL]
        if not weigh(s):
            return BY_WEIGHT
        if s.counter[TRAIL] == before:
            return 0


def weigh(s: State) -> bool:
    """Make the literals false that are too heavy for the rest of the limit.

    Returns:
        False if the limit is exceeded.
    """
    rest = s.counter[LIMIT] - s.counter[TOTAL]
    if rest < 0:
        return False
    for chain in range(s.counter[CHAINS]):
        if s.prefix[s.first[chain + 1] - 1] <= rest:
            break
        left = rest
        for each in range(s.first[chain], s.first[chain + 1]):
            item = s.items[each]
            if s.value[item] < 0:
                break
            if s.value[item] == 0:
                left -= s.weight[item]
                if left < 0:
                    assign(s, item ^ 1, BY_WEIGHT)
                    break
    return True


def explain_weight(s: State, literal: int) -> int:
    """Explain a literal or a conflict of the linear constraint.

    The false literals of the clause that implies it go into `buffer`; their number is returned.

    Sound because each literal implies its chain up to it, and what the negated literals imply weighs more than the limit leaves
    beside what the negation of that literal implies.
    """
    need, until, own = s.counter[LIMIT], s.counter[TRAIL], -1
    if literal >= 0:
        place = s.slot[literal ^ 1]
        need -= s.prefix[place]
        until = s.position[literal >> 1]
        own = s.chain[place]
    s.buffer[0] = s.counter[GUARD] ^ 1
    size = 1
    for chain in range(s.counter[CHAINS]):
        if chain == own:
            continue
        last = -1
        for each in range(s.first[chain], s.first[chain + 1]):
            item = s.items[each]
            if s.value[item] <= 0:
                break
            if s.position[item >> 1] < until:
                last = each
                if s.prefix[each] > need:
                    break
        if last >= 0:
            s.buffer[size] = s.items[last] ^ 1
            size += 1
            need -= s.prefix[last]
            if need < 0:
                break
    return size


def propagate_clauses(s: State) -> int:
    """Propagate unit clauses; return a conflicting clause, or 0."""
    arena, watching, value, trail, counter = s.arena, s.watching, s.value, s.trail, s.counter
    work = 0
    while counter[HEAD] < counter[TRAIL]:
        false = trail[counter[HEAD]] ^ 1
        counter[HEAD] += 1
        before = 0
        ref = watching[false]
        while ref:
            work += 1
            which = 0 if arena[ref + 4] == false else 1
            following = arena[ref + 2 + which]
            other = arena[ref + 5 - which]
            if value[other] > 0:
                before = ref + 2 + which
                ref = following
                continue
            moved = False
            for place in range(ref + 6, ref + 4 + arena[ref]):
                literal = arena[place]
                if value[literal] >= 0:
                    arena[ref + 4 + which] = literal
                    arena[place] = false
                    arena[ref + 2 + which] = watching[literal]
                    watching[literal] = ref
                    if before:
                        arena[before] = following
                    else:
                        watching[false] = following
                    moved = True
                    break
            if moved:
                ref = following
                continue
            if value[other] < 0:
                counter[HEAD] = counter[TRAIL]
                counter[WORK] += work
                return ref
            assign(s, other, ref)
            before = ref + 2 + which
            ref = following
    counter[WORK] += work
    return 0


def rise(s: State, var: int) -> None:
    """Move a variable of the heap up to where its activity belongs."""
    heap, place, activity = s.heap, s.place, s.activity
    here = place[var]
    while here > 0:
        above = (here - 1) >> 1
        if activity[heap[above]] >= activity[var]:
            break
        heap[here] = heap[above]
        place[heap[here]] = here
        here = above
    heap[here] = var
    place[var] = here


def push(s: State, var: int) -> None:
    """Put a variable into the heap unless it is there."""
    if s.place[var] < 0:
        s.place[var] = s.counter[HEAP]
        s.heap[s.counter[HEAP]] = var
        s.counter[HEAP] += 1
        rise(s, var)


def pop(s: State) -> int:
    """Take the most active variable from the heap."""
    heap, place, activity, counter = s.heap, s.place, s.activity, s.counter
    top = heap[0]
    place[top] = -1
    counter[HEAP] -= 1
    size = counter[HEAP]
    if size:
        var = heap[size]
        here = 0
        while True:
            below = 2 * here + 1
            if below >= size:
                break
            if below + 1 < size and activity[heap[below + 1]] > activity[heap[below]]:
                below += 1
            if activity[heap[below]] <= activity[var]:
                break
            heap[here] = heap[below]
            place[heap[here]] = here
            here = below
        heap[here] = var
        place[var] = here
    return top


def bump(s: State, var: int) -> None:
    """Raise the activity of a variable."""
    s.activity[var] += s.step[0]
    if s.activity[var] > RESCALE:
        for each in range(len(s.activity)):
            s.activity[each] /= RESCALE
        s.step[0] /= RESCALE
    if s.place[var] >= 0:
        rise(s, var)


def back_to(s: State, level: int) -> None:
    """Undo all decisions after a level."""
    counter = s.counter
    if counter[LEVELS] <= level:
        return
    first = s.starts[level]
    for place in range(counter[TRAIL] - 1, first - 1, -1):
        literal = s.trail[place]
        var = literal >> 1
        s.value[literal] = 0
        s.value[literal ^ 1] = 0
        s.phase[var] = literal & 1
        counter[TOTAL] -= s.weight[literal]
        push(s, var)
    counter[TRAIL] = first
    counter[HEAD] = first
    counter[LEVELS] = level


def implied_by_seen(s: State, var: int) -> bool:
    """Tell whether seen literals imply a variable."""
    ref = s.reason[var]
    if ref <= 0:
        return False
    for place in range(ref + 4, ref + 4 + s.arena[ref]):
        other = s.arena[place] >> 1
        if other != var and not s.seen[other] and s.level[other] > 0:
            return False
    return True


def analyze(s: State, conflict: int) -> int:
    """Learn a clause from a conflict into `out`; return the level to go back to.

    Sound because the clause is the resolvent of the conflicting clause with reasons of literals, which are clauses.
    """
    arena, level, seen, trail, out, counter = s.arena, s.level, s.seen, s.trail, s.out, s.counter
    size, open_, place = 1, 0, counter[TRAIL] - 1
    ref, literal = conflict, -1
    while True:
        if ref > 0:
            first, past = ref + 4, ref + 4 + arena[ref]
        else:
            first, past = 0, explain_weight(s, literal)
        for each in range(first, past):
            other = arena[each] if ref > 0 else s.buffer[each]
            var = other >> 1
            if other != literal and not seen[var] and level[var] > 0:
                seen[var] = 1
                bump(s, var)
                if level[var] >= counter[LEVELS]:
                    open_ += 1
                else:
                    out[size] = other
                    size += 1
        while not seen[trail[place] >> 1]:
            place -= 1
        literal = trail[place]
        ref = s.reason[literal >> 1]
        place -= 1
        open_ -= 1
        if not open_:
            break
        seen[literal >> 1] = 0
    out[0] = literal ^ 1
    return minimized(s, size)


def minimized(s: State, size: int) -> int:
    """Minimize the learned clause; return the level to go back to.

    Sound because a literal that the others imply through its reason is left out by resolution with that reason.
    """
    level, seen, out, noted = s.level, s.seen, s.out, s.noted
    noted[0] = out[0] >> 1
    kept = 1
    for each in range(1, size):
        noted[each] = out[each] >> 1
        if not implied_by_seen(s, noted[each]):
            out[kept] = out[each]
            kept += 1
    for each in range(size):
        seen[noted[each]] = 0
    back, lbd = 0, 1
    for each in range(1, kept):
        mine = level[out[each] >> 1]
        if mine > back:
            back = mine
            out[each], out[1] = out[1], out[each]
        counted = False
        for earlier in range(1, min(each, 12)):
            if level[out[earlier] >> 1] == mine:
                counted = True
                break
        if not counted:
            lbd += 1
    s.counter[OUT] = kept
    s.counter[LBD] = lbd
    s.step[0] *= DECAY
    return back


def attach(s: State, ref: int) -> None:
    """Watch the first two literals of a clause."""
    for which in range(2):
        literal = s.arena[ref + 4 + which]
        s.arena[ref + 2 + which] = s.watching[literal]
        s.watching[literal] = ref


def learn(s: State) -> None:
    """Add the learned clause and make its first literal true."""
    arena, counter = s.arena, s.counter
    size = counter[OUT]
    if size == 1:
        assign(s, s.out[0], 0)
        return
    ref = counter[END]
    arena[ref] = size
    arena[ref + 1] = counter[LBD]
    for each in range(size):
        arena[ref + 4 + each] = s.out[each]
    counter[END] = ref + 4 + size
    counter[LEARNED] += 1
    attach(s, ref)
    assign(s, s.out[0], ref)


def explain(s: State, failed: int) -> None:
    """Put assumptions that contradict each other into `out`."""
    s.out[0] = failed
    size = 1
    counter, seen = s.counter, s.seen
    if counter[LEVELS]:
        seen[failed >> 1] = 1
        for place in range(counter[TRAIL] - 1, s.starts[0] - 1, -1):
            literal = s.trail[place]
            var = literal >> 1
            if not seen[var]:
                continue
            seen[var] = 0
            ref = s.reason[var]
            if not ref:
                s.out[size] = literal
                size += 1
                continue
            if ref > 0:
                first, past = ref + 4, ref + 4 + s.arena[ref]
            else:
                first, past = 0, explain_weight(s, literal)
            for each in range(first, past):
                other = (s.arena[each] if ref > 0 else s.buffer[each]) >> 1
                if other != var and s.level[other] > 0:
                    seen[other] = 1
        seen[failed >> 1] = 0
    counter[OUT] = size


def reduce_learned(s: State) -> None:
    """Drop the learned clauses of high LBD and all clauses that hold, at level 0."""
    arena, counter = s.arena, s.counter
    for literal in range(len(s.watching)):
        s.watching[literal] = 0
    for place in range(counter[TRAIL]):
        s.reason[s.trail[place] >> 1] = 0
    total = 0
    ref = 1
    while ref < counter[END]:
        if arena[ref + 1] > KEPT_LBD:
            total += min(arena[ref + 1], 30)
        ref += 4 + arena[ref]
    most = total // max(counter[LEARNED], 1)
    ref, free = 1, 1
    counter[LEARNED] = 0
    while ref < counter[END]:
        size, lbd = arena[ref], arena[ref + 1]
        following = ref + 4 + size
        kept = lbd <= KEPT_LBD or lbd <= most
        for each in range(ref + 4, following):
            if s.value[arena[each]] > 0:
                kept = False
                break
        if kept:
            for each in range(4 + size):
                arena[free + each] = arena[ref + each]
            attach(s, free)
            counter[LEARNED] += 1 if lbd else 0
            free += 4 + size
        ref = following
    counter[END] = free


def decide(s: State, literals: Any) -> int:
    """Return the next decision: an assumption, a preferred literal, or any other.

    The last are those of the most active variables.

    Returns:
        The literal; -1 if all variables are assigned; -2 if an assumption is false, after putting a core into `out`.
    """
    counter = s.counter
    while counter[LEVELS] < counter[ASSUMED]:
        literal = literals[counter[LEVELS]]
        if s.value[literal] < 0:
            explain(s, literal)
            return -2
        if s.value[literal] == 0:
            return int(literal)
        s.starts[counter[LEVELS]] = counter[TRAIL]
        counter[LEVELS] += 1
    for place in range(counter[ASSUMED], counter[ASSUMED] + counter[PREFERRED]):
        if s.value[literals[place]] == 0:
            return int(literals[place])
    while counter[HEAP]:
        var = pop(s)
        if s.value[2 * var] == 0:
            return 2 * var + s.phase[var]
    return -1


def follow(s: State, conflict: int) -> int:
    """Learn from a conflict and go back; return 0, or why the search cannot go on."""
    counter = s.counter
    counter[CONFLICTS] += 1
    if not counter[LEVELS]:
        counter[OUT] = 0
        return CORE
    back_to(s, analyze(s, conflict))
    if counter[END] + counter[OUT] + 4 >= len(s.arena):
        # The clause is lost, which only costs work: the same conflict comes again.
        return FULL
    learn(s)
    return 0


def search(s: State, literals: Any, work: int) -> int:
    """Look for a model; learned clauses hold without the assumptions.

    Args:
        s: The state; it has the numbers of assumed and of preferred literals.
        literals: The assumptions, then the preferred literals. The model is the one in which the first preferred literal that
            distinguishes it from another model is true: it is false only if those before it imply that.
        work: Clauses to visit before the search pauses.
    """
    counter = s.counter
    back_to(s, 0)
    until, left = counter[WORK] + work, RESTART
    result = 0
    while not result:
        conflict = propagate(s)
        if conflict:
            left -= 1
            result = follow(s, conflict)
            continue
        if left <= 0 or counter[WORK] > until:
            if counter[LEARNED] > counter[MOST_LEARNED]:
                result = FULL
                break
            if counter[WORK] > until:
                result = PAUSED
                break
            left = RESTART + counter[CONFLICTS] // 16
            back_to(s, min(counter[ASSUMED], counter[LEVELS]))
        chosen = decide(s, literals)
        if chosen == -1:
            return SATISFIED
        if chosen == -2:
            result = CORE
            break
        s.starts[counter[LEVELS]] = counter[TRAIL]
        counter[LEVELS] += 1
        assign(s, chosen, 0)
    back_to(s, 0)
    return result


PARTS = (
    assign, propagate, weigh, explain_weight, propagate_clauses, rise, push, pop, bump, back_to,
    implied_by_seen, minimized, analyze, attach, learn, explain, reduce_learned, decide, follow,
)  # fmt: skip


class Functions(NamedTuple):
    """The functions that a solver calls."""

    search: Callable[..., int]
    reduce_learned: Callable[..., None]
    back_to: Callable[..., None]


INTERPRETED = Functions(search, reduce_learned, back_to)


@cache
def compiled() -> Functions | None:
    """Return the functions compiled by numba, or None where numba is absent."""
    try:
        from numba import njit
        from numba.extending import register_jitable
    except ImportError:
        return None
    for part in PARTS:
        register_jitable(part)
    try:
        functions: Any = [njit(cache=True, nogil=True)(each) for each in INTERPRETED]
    except RuntimeError:
        # Nothing may be written beside the module nor in the user's own directories.
        functions = [njit(nogil=True)(each) for each in INTERPRETED]
    return Functions(*functions)
