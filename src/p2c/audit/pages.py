"""The report of an audit: for somebody who has to judge it and knows none of our words."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from p2c.audit.charts import Bar, Curve, bars_svg, curves_svg
from p2c.audit.intervals import DRAWS
from p2c.audit.tally import FEW
from p2c.explain.facts import source_words
from p2c.explain.letter import teller_in
from p2c.explain.sentences import filled, number_words, rounded
from p2c.explain.teller import Item
from p2c.report.document import Code, Document, Figure, Grid, Heading, Listing, Paragraph
from p2c.report.expert_report import versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c.audit.audit import Audit
    from p2c.audit.change import Shift
    from p2c.audit.ground import Limitation
    from p2c.audit.lifting import Opening
    from p2c.audit.tally import Difference, Share, Tally
    from p2c.plan.outcome import Blocker
    from p2c.report.document import Block

SHOWN = ("5%", "25%", "50%", "75%", "95%")
"""Which quantiles of the effort stand in the table."""
MANY = 12
"""How many bars or sure differences are shown."""


def audit_document(audit: Audit, *, language: str = "en") -> Document:
    """Return the report of an audit."""
    pages = _Pages(audit, language)
    return Document(language, f"{pages.words['title']}: {audit.theory.name}", tuple(pages.blocks()))


class _Pages:
    """Gathers the parts of the report."""

    def __init__(self, audit: Audit, language: str) -> None:
        self.audit = audit
        self.language = language
        self.teller = teller_in(audit.theory, language)
        self.words = self.teller.phrases.audit

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

    def say(self, key: str, **words: str) -> str:
        """Return a phrase with its places filled."""
        return filled(self.words[key], **words)

    def number(self, number: float) -> str:
        """Return a number as people write it."""
        return number_words(rounded(number, digits=4), self.teller.phrases)

    def count(self, number: int) -> str:
        """Return a whole number as people write it."""
        return number_words(number, self.teller.phrases)

    def percent(self, share: float | None) -> str:
        """Return a share in hundredths, with one digit more where it is small."""
        if share is None:
            return "–"
        digits = 1 if abs(share) >= 0.0005 or share == 0 else 3
        shown = number_words(round(share * 100, digits), self.teller.phrases)
        return filled(self.teller.phrases.percent, share=shown)

    def name(self, tally: Tally) -> str:
        """Return what a group is called."""
        return tally.group or self.words["everybody"]

    def _short(self) -> Iterator[Block]:
        whole = self.audit.everybody
        stuck = whole.stuck
        yield Heading(self.words["short"])
        if not whole.refused.count:
            yield Paragraph(self.words["none_refused"], strong=True)
            return
        yield Paragraph(
            self.say(
                "refused_now",
                refused=self.count(whole.refused.count),
                people=self.count(whole.refused.of),
                share=self.percent(whole.refused.value),
            ),
            strong=True,
        )
        points = []
        if not self.audit.asked.proved:
            points.append(self.words["not_proved"])
        elif stuck.count:
            count, share = self.count(stuck.count), self.percent(stuck.value)
            points += [self.say("stuck_now", count=count, share=share), *self._short_why()]
        else:
            points.append(self.words["none_stuck"])
        if whole.found:
            usual = Counter(whole.actions).most_common(1)[0][0]
            points.append(
                self.say(
                    "found_now",
                    count=self.count(whole.found),
                    median=self.number(whole.costs["50%"]),
                    actions=self.count(usual),
                )
            )
        if whole.given_up:
            points.append(self.say("given_up_now", count=self.count(whole.given_up)))
        yield Listing(tuple(map(Item, (*points, *self._sure()))))

    def _short_why(self) -> Iterator[str]:
        """Yield what stands in the way of most, and who is like most of those without a way."""
        found, size = self.audit.obstacles, self.audit.everybody.stuck.count
        if found is not None and found.statements:
            first = found.statements[0]
            what, of = self._barred(first.blockers), self._of(first.people, size)
            yield self.say("short_why", what=what, of=of)
        for box, some in self.audit.confined[:1]:
            if len(box.rows):
                yield self.say("short_who", who=self._told(some))

    def _sure(self) -> Iterator[str]:
        """Yield the differences that are more than chance, those of single traits first, the widest first."""
        if not self.audit.differences:
            return
        alone = self._telling()
        sure = [each for each in self.audit.differences if each.is_sure and each.group in alone]
        order = ("no_way", "cost", "refused")
        sure.sort(key=lambda each: (order.index(each.measure), not each.equal_need, -abs(each.gap)))
        for each in sure[: MANY // 2]:
            yield self.say(
                "sure_gap",
                measure=self.teller.sentence(self.words[f"measure_{each.measure}"]).rstrip("."),
                group=each.group,
                here=self._level(each, each.here),
                others=self._level(each, each.others),
                how=self.words["how_need" if each.equal_need else "how_raw"],
            )
        if not sure:
            yield self.words["no_sure_gap"]

    def _telling(self) -> set[str]:
        """Return the groups of single traits; of two that are each other's rest, the first."""
        single = [each for each in self.audit.tallies if len(each.traits) == 1]
        sizes = Counter(each.traits[0][0] for each in single)
        seen: set[str] = set()
        found = set()
        for each in single:
            column = each.traits[0][0]
            if sizes[column] != 2 or column not in seen:
                found.add(each.group)
            seen.add(column)
        return found

    def _level(self, difference: Difference, value: float) -> str:
        return self.number(value) if difference.measure == "cost" else self.percent(value)

    def _parts(self) -> Iterator[tuple[str, list[Tally]]]:
        """Yield everybody with the groups of single traits, then those of pairs."""
        single = [each for each in self.audit.tallies if len(each.traits) <= 1]
        double = [each for each in self.audit.tallies if len(each.traits) > 1]
        yield "groups", single
        if double:
            yield "pairs", double

    def _groups(self) -> Iterator[Block]:
        keys = ("refused", "with_way", "no_way", "given_up", "exceptions", "unknown", "invalid")
        whole = self.audit.everybody
        gone = {
            "given_up": whole.given_up,
            "exceptions": whole.exceptions,
            "unknown": whole.unknown,
            "invalid": whole.statuses.get("invalid", 0),
        }
        shown = [key for key in keys if gone.get(key, 1)]
        for title, tallies in self._parts():
            yield Heading(self.words[title])
            header = (
                self.words["group"],
                self.words["people"],
                *(self.words[key] for key in shown),
            )
            yield Grid(header, tuple(self._group(each, shown) for each in tallies))
        yield Paragraph(self.say("groups_note", few=str(FEW)))

    def _group(self, tally: Tally, shown: Sequence[str]) -> tuple[str, ...]:
        star = " *" if tally.is_small and tally.traits else ""
        cells = {
            "refused": f"{self.count(tally.refused.count)} ({self.percent(tally.refused.value)})",
            "with_way": self.count(tally.found),
            "no_way": self._share(tally.stuck, small=tally.is_small),
            "given_up": self.count(tally.given_up),
            "exceptions": self.count(tally.exceptions),
            "unknown": self.count(tally.unknown),
            "invalid": self.count(tally.statuses.get("invalid", 0)),
        }
        return (self.name(tally) + star, self.count(tally.people), *(cells[key] for key in shown))

    def _share(self, share: Share, *, small: bool) -> str:
        if share.interval is None or small:
            return self.count(share.count)
        low, high = (self.percent(each) for each in share.interval)
        return f"{self.count(share.count)}: {self.percent(share.value)} ({low} – {high})"

    def _costs(self) -> Iterator[Block]:
        known = [each for each in self.audit.tallies if each.costs and len(each.traits) <= 1]
        if not known:
            return
        yield Heading(self.words["costs"])
        yield Paragraph(self.words["costs_note"])
        header = (self.words["group"], *SHOWN, self.words["actions"], self.words["effects"])
        yield Grid(header, tuple(map(self._cost_row, known)))
        yield from self._curves(known)
        yield Heading(self.words["first"])
        whole = self.audit.everybody
        bars = [
            Bar(
                self.teller.label(feature) if feature else "–",
                count,
                self.say(
                    "first_bar", count=self.count(count), share=self.percent(count / whole.found)
                ),
            )
            for feature, count in list(whole.first.items())[:MANY]
        ]
        yield self._bars("first", bars)

    def _cost_row(self, tally: Tally) -> tuple[str, ...]:
        total = sum(number * count for number, count in tally.actions.items())
        return (
            self.name(tally) + (" *" if tally.is_small and tally.traits else ""),
            *(self.number(tally.costs[share]) for share in SHOWN),
            number_words(round(total / tally.found, 2), self.teller.phrases),
            self.percent(tally.effects),
        )

    def _bars(self, key: str, bars: Sequence[Bar]) -> Figure:
        title, told = self.words[f"{key}_title"], self.words[f"{key}_told"]
        svg = bars_svg(bars, title=title, told=told, language=self.language)
        table = Grid((title, self.words["people"]), tuple((bar.name, bar.told) for bar in bars))
        return Figure(svg, title, told, table)

    def _curves(self, tallies: Sequence[Tally]) -> Iterator[Block]:
        whole, groups = tallies[0], [each for each in tallies[1:] if not each.is_small]
        by_column = groupby(groups, lambda each: each.traits[0][0])
        parts = [(column, list(some)) for column, some in by_column] or [("", [])]
        for column, some in parts:
            title = self.say("curve_title", by=column) if column else self.words["costs"]
            told = self.say("curve_told" if column else "curve_told_all", by=column)
            axes = self.words["curve_x"], self.words["curve_y"]
            curves = [Curve(self.name(each), _curve(each)) for each in (whole, *some)]
            svg = curves_svg(curves, axes=axes, title=title, told=told, language=self.language)
            yield Figure(svg, title, told)

    def _change(self) -> Iterator[Block]:
        change = self.audit.change
        if change is None:
            return
        whole = change.shifts[0]
        gain, lose = whole.gain.count, whole.lose.count
        counts = {"gain": gain, "lose": lose, "same": whole.gain.of - gain - lose}
        yield Heading(self.words["change"])
        told = {key: self.count(value) for key, value in counts.items()}
        lead = self.say("change_lead", name=change.name, problem=self.audit.theory.name, **told)
        yield Paragraph(lead, strong=True)
        costs = {"cheaper": self.count(change.cheaper), "dearer": self.count(change.dearer)}
        yield Paragraph(self.say("change_cost", **costs))
        if whole.unclear:
            yield Paragraph(self.say("change_unclear", count=self.count(whole.unclear)))
        people = self.audit.asked.rows
        bars = [
            Bar(self._move(*statuses), count, self._of(count, people))
            for statuses, count in list(change.moves.items())[:MANY]
        ]
        yield self._bars("change", bars)
        keys = ("group", "gain", "lose", "median_before", "median_after")
        header = tuple(self.words[key] for key in keys)
        yield Grid(header, tuple(map(self._shift, change.shifts)))

    def _move(self, before: str, after: str) -> str:
        names = (self.words[f"status_{each}"] for each in (before, after))
        return self.say("change_bar", **dict(zip(("before", "after"), names, strict=True)))

    def _shift(self, shift: Shift) -> tuple[str, ...]:
        small = shift.gain.of < FEW
        efforts = [
            self.number(each["50%"]) if each else "–" for each in (shift.before, shift.after)
        ]
        shares = [self._share(each, small=small) for each in (shift.gain, shift.lose)]
        return shift.group or self.words["everybody"], *shares, *efforts

    def _why(self) -> Iterator[Block]:
        found = self.audit.obstacles
        if found is None:
            return
        size = self.audit.everybody.stuck.count
        yield Heading(self.words["why"])
        yield Paragraph(self.say("why_note", count=self.count(size)))
        counts = [(self._barred(each.blockers), each.people) for each in found.statements]
        counts += [(self.words["not_found_out"], found.unexplained)] * bool(found.unexplained)
        bars = [Bar(name, count, self._of(count, size)) for name, count in counts[:MANY]]
        yield self._bars("why", bars)
        if found.singles or found.pairs:
            yield Heading(self.words["lift"])
            yield Paragraph(self.words["lift_note"])
            header = tuple(self.words[key] for key in ("lifted", "opens", "effort_then"))
            openings = (*found.singles, *found.pairs)
            yield Grid(header, tuple(self._opening(each) for each in openings))
        named = [(self.teller.label(name), count) for name, count in found.features]
        for key, what, counted, of in (
            ("refusing", "rule", found.rules, size),
            ("forcing", "feature", named, found.forced),
        ):
            if counted:
                yield Heading(self.words[key])
                if key == "forcing":
                    yield Paragraph(self.say("forcing_note", of=self._of(of, size)))
                rows = [(name, self._of(count, of)) for name, count in counted[:MANY]]
                yield Grid((self.words[what], self.words["people"]), tuple(rows))

    def _of(self, count: int, of: int) -> str:
        share = self.percent(count / of)
        return self.say("why_bar", count=self.count(count), of=self.count(of), share=share)

    def _barred(self, blockers: Sequence[Blocker]) -> str:
        told = [
            self.say(f"restriction_{each.restriction}", label=self.teller.label(each.feature))
            for each in blockers
        ]
        return self.words["and"].join(told) or self.words["rules_alone"]

    def _opening(self, opening: Opening) -> tuple[str, ...]:
        opened = self._of(opening.opened, opening.of)
        cost = self.number(opening.costs["50%"]) if opening.costs else "–"
        if 0 < opening.priced < opening.opened:
            cost += self.say("priced", count=self.count(opening.priced))
        return self._barred(opening.blockers), opened, cost

    def _confined(self) -> Iterator[Block]:
        found, boxes = self.audit.confinement, self.audit.confined
        if found is None:
            return
        yield Heading(self.words["confined"])
        yield Paragraph(self.words["confined_note"])
        rows = [(self._told(some), self.count(len(box.rows))) for box, some in boxes[:MANY]]
        if rows:
            yield Grid((self.words["who"], self.words["in_data"]), tuple(rows))
        if len(boxes) > MANY:
            yield Paragraph(self.say("confined_more", count=self.count(len(boxes) - MANY)))
        if len(found.left):
            yield Paragraph(self.say("confined_left", count=self.count(len(found.left))))
        else:
            yield Paragraph(self.words["confined_all" if found.complete else "confined_some"])

    def _told(self, limitations: Sequence[Limitation]) -> str:
        said = [self._limitation(each) for each in limitations]
        return self.words["and"].join(said) or self.words["anybody"]

    def _limitation(self, each: Limitation) -> str:
        label, feature = self.teller.label(each.feature), self.audit.theory.feature[each.feature]
        parts = [self.say("is_unknown", label=label)] * each.missing
        if each.names:
            every = list(feature.places)
            rest = [name for name in every if name not in each.names]
            short, key = (
                (rest, "is_not") if 0 < len(rest) < len(each.names) else (each.names, "is_one")
            )
            values = self.words["or"].join(self.teller.value(each.feature, name) for name in short)
            parts.append(self.say(key if rest else "known", label=label, values=values))
        for low, high in each.spans:
            ends = {
                "low": self.teller.value(each.feature, low),
                "high": self.teller.value(each.feature, high),
            }
            keys = {(True, True): "known", (True, False): "at_most", (False, True): "at_least"}
            key = (
                "is_one"
                if low == high and low is not None
                else keys.get((low is None, high is None), "between")
            )
            parts.append(self.say(key, label=label, values=ends["low"], **ends))
        return self.words["or"].join(parts)

    def _differences(self) -> Iterator[Block]:
        if len(self.audit.tallies) == 1:
            return
        yield Heading(self.words["differences"])
        if not self.audit.differences:
            yield Paragraph(self.words["too_few"])
            return
        keys = ("group", "measure", "here", "others", "gap", "chance", "sure")
        header = tuple(self.words[key] for key in keys)
        for key, need in (("differences_raw", False), ("differences_need", True)):
            some = [each for each in self.audit.differences if each.equal_need is need]
            if some:
                yield Paragraph(self.words[key])
                yield Grid(header, tuple(map(self._difference, some)))
        yield Paragraph(self.say("differences_note", few=str(FEW)))

    def _difference(self, each: Difference) -> tuple[str, ...]:
        gap, low, high = (self._level(each, value) for value in (each.gap, *each.interval))
        return (
            each.group,
            self.words[f"measure_{each.measure}"],
            self._level(each, each.here),
            self._level(each, each.others),
            f"{gap} ({low} … {high})",
            "< 0.0001"
            if each.chance < 0.0001
            else number_words(round(each.chance, 4), self.teller.phrases),
            self.words["yes" if each.is_sure else "no"],
        )

    def _asked(self) -> Iterator[Block]:
        theory, asked = self.audit.theory, self.audit.asked
        facts = {
            "problem": theory.name,
            "goal": theory.goal_text,
            "people": self.count(asked.rows),
            "divided": "; ".join(asked.by) or "–",
            "effort": theory.norm.value.upper(),
        }
        if asked.confirmed is not None:
            told, ends = map(self.count, asked.confirmed)
            facts["confirmed"] = self.say("confirmed_of", count=told, of=ends)
        if theory.source:
            facts["source"] = source_words(theory.source, self.teller.phrases)
        yield Heading(self.words["asked"])
        yield self._table(facts)

    def _table(self, facts: dict[str, str]) -> Grid:
        rows = tuple((self.words.get(key, key), value) for key, value in facts.items())
        return Grid((self.words["key"], self.words["value"]), rows)

    def _method(self) -> Iterator[Block]:
        theory = self.audit.theory
        keys = ["method_plan", "method_rules"]
        keys += ["method_learned"] * bool(theory.source) + ["method_model"] * bool(
            theory.model and self.audit.asked.proved
        )
        words = {"draws": self.count(DRAWS), "seed": str(self.audit.asked.seed)}
        told = [self.say(key, **words) for key in (*keys, "method_tests", "method_fair")]
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


def _curve(tally: Tally) -> tuple[tuple[float, float], ...]:
    """Return, for rising efforts, the share of the refused for whom a yes takes no more."""
    reach = tally.found / tally.refused.count
    costs = [(float(share.rstrip("%")) / 100 * reach, cost) for share, cost in tally.costs.items()]
    return ((0.0, 0.0), *((cost, share) for share, cost in costs))
