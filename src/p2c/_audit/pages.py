"""The report of an audit: for somebody who has to judge it and knows none of our words."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from p2c._audit.intervals import DRAWS
from p2c._audit.tally import FEW
from p2c._audit.telling import AuditTeller, Bar, Curve, bars_svg, curves_svg
from p2c._explain.sentences import filled, number_words
from p2c._explain.teller import Item
from p2c._report.document import Code, Document, Figure, Grid, Heading, Listing, Paragraph
from p2c._report.expert_report import versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c._audit.audit import Audit
    from p2c._audit.lifting import Opening
    from p2c._audit.tally import Difference, Share, Shift, Tally
    from p2c._report.document import Block

SHOWN = ("5%", "25%", "50%", "75%", "95%")
"""Which quantiles of the effort stand in the table."""
LEAST = 0.0001
"""Below which probability no more is said than that."""
RARE = ("given_up", "exceptions", "unknown", "invalid")
"""What is counted in a column of its own only where it happened at all."""
MANY = 12
"""How many bars or sure differences are shown."""
REGIONS = 10
"""How many regions without recourse are shown."""

METHODS = ("method_intervals", "method_tests", "method_draws")
"""What is said of how sure figures are."""


def audit_document(audit: Audit, *, language: str = "en") -> Document:
    """Return the report of an audit."""
    pages = _Pages(audit, language)
    return Document(language, f"{pages.words['title']}: {audit.theory.name}", tuple(pages.blocks()))


class _Pages:
    """Gathers the parts of the report."""

    def __init__(self, audit: Audit, language: str) -> None:
        self.audit = audit
        self.language = language
        self.tell = AuditTeller(audit.theory, language)
        self.words = self.tell.words
        self.names = {each.group: self.tell.group(each.traits) for each in audit.tallies}

    def blocks(self) -> Iterator[Block]:
        yield from self._short()
        yield from self._change()
        yield from self._groups()
        yield from self._costs()
        yield from self._why()
        yield from self._confined()
        yield from self._differences()
        yield from self._asked()
        yield from self._method()
        yield from self._repeat()

    def name(self, tally: Tally) -> str:
        """Return what a group is called, with a star where it is small."""
        return self.group(tally.group) + " *" * _is_starred(tally)

    def group(self, name: str) -> str:
        """Return the words for a group that is known by its name."""
        return self.names[name] or self.words["everybody"]

    def _short(self) -> Iterator[Block]:
        whole = self.audit.everybody
        stuck = whole.stuck
        yield Heading(self.words["short"])
        if not whole.refused.count:
            yield Paragraph(self.words["none_refused"], strong=True)
            return
        yield Paragraph(
            self.tell.say(
                "refused_now",
                refused=whole.refused.count,
                people=whole.refused.of,
                share=self.tell.percent(whole.refused.value),
            ),
            strong=True,
        )
        key = "stand_in" if self.audit.asked.ends_confirmed is None else "stand_in_asked"
        points = [self.tell.say(key, by=self.tell.source())] * bool(self.tell.source())
        if not self.audit.asked.proved:
            points.append(self.words["not_proved"])
        elif stuck.count:
            share = self.tell.percent(stuck.value)
            told = self.tell.say("stuck_now", count=stuck.count, share=share)
            points += [told, *self._short_why()]
        else:
            points.append(self.words["none_stuck"])
        if whole.found:
            usual = Counter(whole.actions).most_common(1)[0][0]
            points.append(
                self.tell.say(
                    "found_now",
                    count=whole.found,
                    median=self.tell.number(whole.costs["50%"]),
                    change=self.tell.as_change(whole.costs["50%"], list(whole.first)),
                    actions=usual,
                )
            )
        if whole.given_up:
            points.append(self.tell.say("given_up_now", count=whole.given_up))
        if self.audit.differences and not self._sure():
            points.append(self.words["no_sure_gap"])
        yield Listing(tuple(map(Item, points)))
        yield from self._short_gaps()

    def _short_why(self) -> Iterator[str]:
        """Yield what stands in the way of most, and who is like most of those without a way."""
        found, size = self.audit.obstacles, self.audit.everybody.stuck.count
        if found is not None and found.statements:
            first = found.statements[0]
            what, of = self.tell.statement(first), self.tell.out_of(first.people, size)
            yield self.tell.say("short_why", what=what, of=of)
        for box, where in self.audit.confined[:1]:
            if len(box.rows):
                yield self.tell.say("short_who", who=self.tell.told(where))

    def _sure(self) -> list[Difference]:
        """Return the differences that are more than chance, those of single traits first, the widest first."""
        alone = self._telling()
        found = [each for each in self.audit.differences if each.is_sure]
        order = ("no_way", "cost", "refused")
        return sorted(
            [each for each in found if each.group in alone] or found,
            key=lambda each: (order.index(each.measure), not each.equal_need, -abs(each.gap)),
        )

    def _short_gaps(self) -> Iterator[Block]:
        """Yield the first of the sure differences, and where the others are."""
        shown = self._sure()[: MANY // 2]
        if shown:
            yield Paragraph(self.words["sure_lead"])
            yield Listing(tuple(Item(self._gap(each)) for each in shown))
        more = sum(each.is_sure for each in self.audit.differences) - len(shown)
        if more:
            yield Paragraph(self.tell.say("sure_more", count=more))

    def _gap(self, each: Difference) -> str:
        return self.tell.say(
            "sure_gap",
            measure=self.tell.teller.sentence(self._measure(each)).rstrip("."),
            group=self.group(each.group),
            here=self._level(each, each.here),
            others=self._level(each, each.others),
            how=self._how(each),
        )

    def _how(self, each: Difference) -> str:
        """Say beside whom a group is put; nothing where it goes without saying."""
        if each.measure == "refused":
            return ""
        alike = "how_need_cost" if each.measure == "cost" else "how_need"
        return self.words[alike if each.equal_need else "how_raw"]

    def _measure(self, each: Difference) -> str:
        by_reason = each.measure == "cost" and each.equal_need
        return self.words["measure_cost_need" if by_reason else f"measure_{each.measure}"]

    def _telling(self) -> set[str]:
        """Return the groups of single traits; of two that are each other's rest, the first."""
        by_column: dict[str, list[str]] = {}
        for each in self.audit.tallies:
            if len(each.traits) == 1:
                by_column.setdefault(each.traits[0][0], []).append(each.group)
        return {
            name for some in by_column.values() for name in some[: 1 if len(some) == 2 else None]
        }

    def _level(self, difference: Difference, value: float) -> str:
        return self.tell.number(value) if difference.measure == "cost" else self.tell.percent(value)

    def _parts(self) -> Iterator[tuple[str, list[Tally]]]:
        """Yield everybody with the groups of single traits, then those of pairs."""
        single = [each for each in self.audit.tallies if len(each.traits) <= 1]
        double = [each for each in self.audit.tallies if len(each.traits) > 1]
        yield "groups", single
        if double:
            yield "pairs", double

    def _groups(self) -> Iterator[Block]:
        rare = [key for key in RARE if getattr(self.audit.everybody, key)]
        noted = ["share", *rare, *["star"] * any(map(_is_starred, self.audit.tallies))]
        notes = [self.tell.say(f"note_{key}", few=str(FEW)) for key in noted]
        keys = ("group", "people", "refused", "with_way", "no_way", *rare)
        for title, tallies in self._parts():
            yield Heading(self.words[title])
            if title == "groups":
                yield Paragraph(" ".join(notes))
            rows = (self._group(each, rare) for each in tallies)
            yield Grid.under(self.words, keys, rows)

    def _group(self, tally: Tally, rare: Sequence[str]) -> tuple[str, ...]:
        return (
            self.name(tally),
            self.tell.count(tally.people),
            self._refused(tally),
            self.tell.count(tally.found),
            self._share(tally.stuck, small=tally.is_small),
            *(self.tell.count(getattr(tally, key)) for key in rare),
        )

    def _refused(self, tally: Tally) -> str:
        count = self.tell.count(tally.refused.count)
        few = tally.refused.of < FEW and tally.traits
        return count if few else f"{count} ({self.tell.percent(tally.refused.value)})"

    def _share(self, share: Share, *, small: bool) -> str:
        if share.interval is None or small:
            return self.tell.count(share.count)
        low, high = (self.tell.percent(each) for each in share.interval)
        return f"{self.tell.count(share.count)}: {self.tell.percent(share.value)} ({low} – {high})"

    def _costs(self) -> Iterator[Block]:
        known = [
            each
            for each in self.audit.tallies
            if each.costs and len(each.traits) <= 1 and not _is_starred(each)
        ]
        if not known:
            return
        yield Heading(self.words["costs"])
        whole = self.audit.everybody
        yield Paragraph(self.tell.say("costs_note", norm=self.tell.norm()))
        counts = tuple(self.tell.counted(list(whole.first)))[:MANY]
        yield Grid.under(self.words, ("feature", "counts"), counts)
        yield Paragraph(self.words["quantiles_note"])
        header = (
            self.words["group"],
            *map(self._quantile, SHOWN),
            self.words["actions"],
            self.words["effects"],
        )
        yield Grid(header, tuple(map(self._cost_row, known)))
        yield from self._curves(known)
        yield Heading(self.words["first"])
        bars = [
            Bar(
                self.tell.teller.label(feature) if feature else "–",
                count,
                self.tell.say(
                    "first_bar",
                    count=count,
                    share=self.tell.percent(count / whole.found),
                ),
            )
            for feature, count in list(whole.first.items())[:MANY]
        ]
        yield self._bars("first", bars)

    def _quantile(self, share: str) -> str:
        return filled(self.tell.phrases.percent, share=share.rstrip("%"))

    def _cost_row(self, tally: Tally) -> tuple[str, ...]:
        total = sum(number * count for number, count in tally.actions.items())
        return (
            self.name(tally),
            *(self.tell.number(tally.costs[share]) for share in SHOWN),
            number_words(round(total / tally.found, 2), self.tell.phrases),
            self.tell.percent(tally.effects),
        )

    def _bars(self, key: str, bars: Sequence[Bar]) -> Figure:
        title, told = self.words[f"{key}_title"], self.words[f"{key}_told"]
        svg = bars_svg(bars, title=title, told=told, language=self.language)
        table = Grid((title, self.words["people"]), tuple((bar.name, bar.told) for bar in bars))
        return Figure(svg, title, told, table)

    def _curves(self, tallies: Sequence[Tally]) -> Iterator[Block]:
        whole, groups = tallies[0], tallies[1:]
        by_column = groupby(groups, lambda each: each.traits[0][0])
        parts = [(column, list(some)) for column, some in by_column] or [("", [])]
        for name, some in parts:
            column = self.tell.column(name)
            title = self.tell.say("curve_title", by=column) if column else self.words["costs"]
            told = self.tell.say("curve_told" if column else "curve_told_all", by=column)
            axes = self.words["curve_x"], self.words["curve_y"]
            curves = [Curve(self.name(each), _curve(each)) for each in (whole, *some)]
            svg = curves_svg(curves, axes=axes, title=title, told=told, language=self.language)
            ends = [(curve.name, self.tell.percent(curve.points[-1][1])) for curve in curves]
            table = Grid.under(self.words, ("group", "curve_end"), ends)
            yield Figure(svg, title, told, table)

    def _change(self) -> Iterator[Block]:
        change = self.audit.change
        if change is None:
            return
        whole = change.shifts[0]
        gain, lose = whole.gain.count, whole.lose.count
        counts = {"gain": gain, "lose": lose, "same": whole.gain.of - gain - lose}
        yield Heading(self.words["change"])
        names = {"name": change.name, "problem": self.audit.theory.name}
        yield Paragraph(self.tell.say("change_lead", **names, **counts), strong=True)
        costs = {"cheaper": change.cheaper, "dearer": change.dearer}
        yield Paragraph(self.tell.say("change_cost", **costs))
        if whole.unclear:
            yield Paragraph(self.tell.say("change_unclear", count=whole.unclear))
        people = self.audit.asked.rows
        bars = [
            Bar(self._move(*statuses), count, self.tell.out_of(count, people))
            for statuses, count in list(change.moves.items())[:MANY]
        ]
        yield self._bars("change", bars)
        keys = ("group", "gain", "lose", "median_before", "median_after")
        yield Grid.under(self.words, keys, map(self._shift, change.shifts))

    def _move(self, before: str, after: str) -> str:
        names = {"before": self.words[f"status_{before}"], "after": self.words[f"status_{after}"]}
        return self.tell.say("change_bar", **names)

    def _shift(self, shift: Shift) -> tuple[str, ...]:
        small = shift.gain.of < FEW
        efforts = [
            self.tell.number(each["50%"]) if each and not (small and shift.traits) else "–"
            for each in (shift.before, shift.after)
        ]
        shares = [self._share(each, small=small) for each in (shift.gain, shift.lose)]
        return self.group(shift.group), *shares, *efforts

    def _why(self) -> Iterator[Block]:
        found = self.audit.obstacles
        if found is None:
            return
        size = self.audit.everybody.stuck.count
        yield Heading(self.words["why"])
        yield Paragraph(self.tell.say("why_note", count=size))
        if any(each.instead for each in found.statements):
            yield Paragraph(self.words["why_instead"])
        if found.cut_short:
            yield Paragraph(self.words["why_cut_short"])
        counts = [(self.tell.statement(each), each.people) for each in found.statements]
        counts += [(self.words["not_found_out"], found.unexplained)] * bool(found.unexplained)
        bars = [Bar(name, count, self.tell.out_of(count, size)) for name, count in counts[:MANY]]
        yield self._bars("why", bars)
        if found.singles or found.pairs:
            yield Heading(self.words["lift"])
            yield Paragraph(self.words["lift_note"])
            openings = (*found.singles, *found.pairs)
            yield Grid.under(
                self.words, ("lifted", "opens", "effort_then"), map(self._opening, openings)
            )
        named = [(self.tell.teller.label(name), count) for name, count in found.features]
        rules = [(self.tell.rule(text), count) for text, count in found.rules]
        for key, what, counted, of in (
            ("refusing", "rule", rules, size),
            ("forcing", "feature", named, found.forced),
        ):
            if counted:
                yield Heading(self.words[key])
                if key == "forcing":
                    yield Paragraph(self.tell.say("forcing_note", of=self.tell.out_of(of, size)))
                rows = [(name, self.tell.out_of(count, of)) for name, count in counted[:MANY]]
                yield Grid.under(self.words, (what, "people"), rows)

    def _opening(self, opening: Opening) -> tuple[str, ...]:
        opened = self.tell.out_of(opening.opened, opening.of)
        cost = self.tell.number(opening.costs["50%"]) if opening.costs else "–"
        if 0 < opening.priced < opening.opened:
            cost += self.tell.say("priced", count=opening.priced)
        return self.tell.barred(opening.blockers), opened, cost

    def _confined(self) -> Iterator[Block]:
        found = self.audit.confinement
        if found is None:
            return
        yield Heading(self.words["confined"])
        yield Paragraph(self.words["confined_note"])
        boxes = found.boxes
        rows = [(self.tell.told(b.where), self.tell.count(len(b.rows))) for b in boxes[:REGIONS]]
        if rows:
            yield Grid.under(self.words, ("who", "in_data"), rows)
        if len(boxes) > REGIONS:
            yield Paragraph(self.tell.say("confined_more", count=len(boxes) - REGIONS))
        if len(found.left):
            yield Paragraph(self.tell.say("confined_left", count=len(found.left)))
        else:
            yield Paragraph(self.words["confined_all" if found.complete else "confined_some"])

    def _differences(self) -> Iterator[Block]:
        if len(self.audit.tallies) == 1:
            return
        yield Heading(self.words["differences"])
        if not self.audit.differences:
            yield Paragraph(self.words["too_few"])
            return
        keys = ("group", "measure", "here", "others", "gap", "chance", "sure")
        yield Paragraph(self.tell.say("differences_note", few=str(FEW)))
        by_score = self.audit.theory.model or self.audit.asked.ends_confirmed is not None
        reasons = self.words["same_scores" if by_score else "same_rules"]
        for key, need in (("differences_raw", False), ("differences_need", True)):
            some = [each for each in self.audit.differences if each.equal_need is need]
            if some:
                yield Paragraph(self.tell.say(key, reasons=reasons))
                yield Grid.under(self.words, keys, map(self._difference, some))

    def _difference(self, each: Difference) -> tuple[str, ...]:
        gap, low, high = (self._level(each, value) for value in (each.gap, *each.interval))
        return (
            self.group(each.group),
            self._measure(each),
            self._level(each, each.here),
            self._level(each, each.others),
            f"{gap} ({low} … {high})",
            ("< " if each.chance < LEAST else "")
            + number_words(max(round(each.chance, 4), LEAST), self.tell.phrases),
            self.words["yes" if each.is_sure else "no"],
        )

    def _asked(self) -> Iterator[Block]:
        theory, asked = self.audit.theory, self.audit.asked
        facts = {
            "problem": theory.name,
            "goal": self.tell.goal(),
            "goal_text": theory.goal_text,
            "people": self.tell.count(asked.rows),
            "divided": "; ".join(asked.by) or "–",
            "effort": self.tell.norm(),
        }
        if asked.ends_confirmed is not None:
            told, ends = map(self.tell.count, asked.ends_confirmed)
            facts["confirmed"] = self.tell.say("confirmed_of", count=told, of=ends)
        if self.tell.source() and asked.ends_confirmed is None:
            facts["source"] = self.tell.source()
        yield Heading(self.words["asked"])
        yield self._table(facts)
        rules = self.tell.decisions()
        if rules:
            more = [self.tell.say("rules_more", count=len(rules) - MANY)]
            yield Paragraph(self.words["rules"])
            yield Listing(tuple(map(Item, (*rules[:MANY], *more * (len(rules) > MANY)))))

    def _table(self, facts: dict[str, str]) -> Grid:
        rows = ((self.words.get(key, key), value) for key, value in facts.items())
        return Grid.under(self.words, ("key", "value"), rows)

    def _method(self) -> Iterator[Block]:
        theory = self.audit.theory
        keys = ["method_plan", *["method_exact"] * self.audit.asked.proved, "method_rules"]
        keys += ["method_learned"] * bool(theory.source) + ["method_model"] * bool(
            theory.model and self.audit.asked.proved
        )
        words = {"draws": self.tell.count(DRAWS), "seed": str(self.audit.asked.seed)}
        told = [self.tell.say(key, **words) for key in (*keys, *METHODS, "method_fair")]
        yield Heading(self.words["method"])
        yield Listing(tuple(map(Item, told)))

    def _repeat(self) -> Iterator[Block]:
        asked = self.audit.asked
        yield Heading(self.words["repeat"])
        if asked.command:
            yield Code((asked.command,))
        hashes = {f"{key}_hash": value for key, value in asked.hashes.items()}
        facts = {"date": asked.date, **hashes, **versions()}
        yield self._table(facts)


def _is_starred(tally: Tally) -> bool:
    """Tell whether a group has too few people to say more than the counts."""
    return tally.is_small and bool(tally.traits)


def _curve(tally: Tally) -> tuple[tuple[float, float], ...]:
    """Return, for rising efforts, the share of the refused for whom a yes takes no more."""
    reach = tally.found / tally.refused.count
    costs = [(float(share.rstrip("%")) / 100 * reach, cost) for share, cost in tally.costs.items()]
    return ((0.0, 0.0), *((cost, share) for share, cost in costs))
