"""The commands about one person or problem: plans, proofs and checks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from p2c import datasets
from p2c._explain.justification import JUSTIFIERS, Justifier
from p2c._explain.model_reasons import model_reasons
from p2c._explain.sentences import explain_proof, to_text
from p2c._plan.nearest import Distinct
from p2c._report.terminal import (
    show_breaches,
    show_caveats,
    show_justification,
    show_laws,
    show_plan,
    show_plans,
    show_space,
)
from p2c._rules.lint import summarized
from p2c._spec.cost import Norm
from p2c._spec.spec import Trust
from p2c.cli.app import command_group, complain, out, spread
from p2c.cli.desk import (
    Abilities,
    AsJson,
    EngineOption,
    Keys,
    Manner,
    OnePerson,
    ProblemFile,
    TrustOption,
    load_problem,
    print_json,
    read_document,
    write_new,
)
from p2c.errors import P2CError, UncertifiedError
from p2c.problem import Problem

if TYPE_CHECKING:
    from p2c._plan.rendered import Plan

MOST = 100_000
"""The most end states that are asked for at once."""

KINDS = "in kind; --distinct points lists every end state"
"""How ways differ of which there are fewer than were asked for."""

planning = command_group()


@planning.command()
@spread
def plan(
    who: OnePerson,
    keys: Keys,
    manner: Manner,
    abilities: Abilities,
    *,
    all_norms: Annotated[bool, typer.Option(help="Plan under each norm.")] = False,
    certificate: Annotated[
        Path | None,
        typer.Option(help="Write a certificate of the answer that `p2c verify` checks."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the cheapest path to the goal for one person."""
    if certificate is not None and all_norms:
        raise P2CError("--certificate: one answer has one certificate: leave out --all-norms")
    loaded = who.load().restricted(abilities.restrictions)
    person = who.read(loaded)
    asked = [replace(keys, norm=each) for each in Norm] if all_norms else [keys]
    how = manner.keywords | {"certificate": certificate is not None}
    plans = [loaded.plan(person, **how, **each.overrides) for each in asked]
    if certificate is not None:
        _write_certificate(certificate, plans[0], announce=not as_json)
    if as_json:
        documents = [each.to_dict() for each in plans]
        print_json(documents if all_norms else documents[0])
    else:
        worded = loaded.with_keys(**replace(keys, norm=None).overrides)
        for each in plans:
            if all_norms:
                out.print(f"{each.question.norm.upper()}:", style="bold")
            show_plan(out, worded.theory, each)
    raise typer.Exit(0 if all(each.status in ("found", "already") for each in plans) else 1)


def _write_certificate(file: Path, plan: Plan, *, announce: bool) -> None:
    """Write the certificate of a plan; if it has none, the reason ends the command."""
    if plan.certificate is None:
        raise P2CError(f"--certificate: {plan.uncertified}; the plan without it is unaffected")
    write_new(file, json.dumps(dict(plan.certificate)) + "\n", announce=announce)


@planning.command()
def verify(
    problem: ProblemFile,
    row: Annotated[Path, typer.Argument(help="The person: a JSON object, or a file of one row.")],
    plan: Annotated[Path, typer.Argument(help="The plan, as `p2c plan --json` prints it.")],
    certificate: Annotated[
        Path, typer.Argument(help="The certificate, as `p2c plan --certificate` writes it.")
    ],
    *,
    trust: TrustOption = None,
) -> None:
    """Verify a plan and its certificate with the independent checker."""
    loaded = load_problem(problem, trust)
    person = OnePerson(problem, row).read(loaded)
    documents = read_document(plan), read_document(certificate)
    try:
        out.print(str(loaded.verify(person, *documents)), markup=False)
    except UncertifiedError as error:
        complain(f"not verified: {error}")
        raise typer.Exit(1) from None


@planning.command()
@spread
def nearest(
    who: OnePerson,
    keys: Keys,
    manner: Manner,
    abilities: Abilities,
    *,
    k: Annotated[int, typer.Option("-k", min=1, max=MOST, help="Number of end states.")] = 5,
    distinct: Annotated[
        Distinct | None,
        typer.Option(
            help="The difference between end states: any value, or values that rules tell apart; "
            "by default the latter, with --json the former."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the k cheapest end states, each with its best path."""
    loaded = who.load().restricted(abilities.restrictions)
    person = who.read(loaded)
    points = as_json if distinct is None else distinct is Distinct.POINTS
    kind = (Distinct.POINTS if points else Distinct.CELLS).value
    plans = loaded.nearest(person, k, distinct=kind, **manner.keywords, **keys.overrides)
    if as_json:
        print_json([each.to_dict() for each in plans])
    else:
        show_plans(out, loaded.theory, plans, loaded.read_row(person))
        if 0 < len(plans) < k and plans[-1].status == "found":
            several = f"There are no more than these {len(plans)}", "differ"
            rest, differ = ("There is no other", "differs") if len(plans) == 1 else several
            out.print(f"{rest}." if points else f"{rest} that {differ} {KINDS}.")
    raise typer.Exit(0 if plans and plans[-1].status != "gave_up" else 1)


@planning.command()
@spread
def tradeoffs(
    who: OnePerson,
    keys: Keys,
    abilities: Abilities,
    *,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OBJECTIVE",
            help="cost, actions or a resource; by default the cost and all resources. Repeatable.",
        ),
    ] = None,
    time_limit: Annotated[float | None, typer.Option(min=0, help="Seconds for the search.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find a plan for each Pareto-optimal pair of cost and resources."""
    loaded = who.load().restricted(abilities.restrictions)
    person = who.read(loaded)
    plans = loaded.tradeoffs(person, by, time_limit=time_limit, **keys.overrides)
    if as_json:
        print_json([each.to_dict() for each in plans])
    else:
        show_plans(out, loaded.theory, plans, loaded.read_row(person))
    raise typer.Exit(0 if plans and plans[-1].status != "gave_up" else 1)


@planning.command()
@spread
def why(
    who: OnePerson,
    *,
    as_json: AsJson = False,
    tree: Annotated[bool, typer.Option(help="Print the proof tree with its rules as well.")] = True,
    engine: Annotated[
        Justifier, typer.Option(help="scasp adds s(CASP)'s own justification.")
    ] = Justifier.NATIVE,
) -> None:
    """Explain the decision in sentences and as a proof tree."""
    loaded = who.load()
    person = who.read(loaded)
    proof, state = loaded.why(person), loaded.read_row(person)
    if loaded.model is not None and engine is not Justifier.NATIVE:
        raise P2CError(f"--engine {engine.value}: it cannot hold a model, which decides here")
    second = JUSTIFIERS[engine](loaded.theory, state)
    reasons = model_reasons(loaded.theory, state, stand_in=loaded.worded)
    if as_json:
        more = {engine.value: second.to_dict()} if second else {}
        more |= {"model": reasons.to_dict()} if reasons else {}
        print_json(proof.to_dict() | loaded.theory.rests_on(state) | more)
        return
    if reasons:
        out.print(to_text(reasons.sentences()), markup=False)
    by_rules = reasons is None or reasons.leaves_to_rules
    if by_rules:
        out.print(to_text(explain_proof(loaded.worded, proof)), markup=False)
    show_caveats(out, loaded.theory, state, rules=by_rules)
    if tree and (reasons is None or reasons.explained):
        out.print(f"\n{proof.to_text()}", markup=False)
    if second:
        show_justification(out, second)


@planning.command()
def check(
    problem: ProblemFile,
    plan: Annotated[
        Path,
        typer.Argument(
            help="The plan, a JSON file as `p2c plan --json` prints it; - for standard input."
        ),
    ],
    *,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Verify a certificate of the claim; without one, plan again, by clingo if possible.",
        ),
    ] = False,
    engine: EngineOption = "auto",
    time_limit: Annotated[
        float | None,
        typer.Option(min=0, help="Seconds to prove the claim; then it stays unproved."),
    ] = None,
    trust: TrustOption = None,
) -> None:
    """Replay a plan and list its faults and its unchecked claims."""
    loaded = load_problem(problem, trust)
    document = read_document(plan)
    verdict = loaded.check(document, prove=prove, engine=engine, time_limit=time_limit)
    out.print(str(verdict), markup=False)
    if verdict.ok:
        show_caveats(out, loaded.theory, document["initial"])
    # One who asks for a proof is not served by a claim that stays open.
    raise typer.Exit(0 if verdict.ok and not (prove and verdict.unchecked) else 1)


@planning.command("follow-up")
def follow_up(
    problem: ProblemFile,
    plan: Annotated[Path, typer.Argument(help="The plan, a JSON file; - for standard input.")],
    row: Annotated[Path, typer.Argument(help="The person's values now, a JSON or CSV file.")],
    *,
    language: Annotated[str, typer.Option(help="The language of the text: en or de.")] = "en",
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Seconds for the new plan.")
    ] = None,
    as_json: AsJson = False,
    trust: TrustOption = None,
) -> None:
    """Compare a plan with a person's later values and plan again from there."""
    loaded = load_problem(problem, trust)
    people = loaded.read_rows(row)
    if len(people) != 1:
        raise P2CError(f"{row}: expected one person, found {len(people)}")
    later = loaded.follow_up(read_document(plan), people[0], time_limit=time_limit)
    if as_json:
        print_json(later.to_dict())
    else:
        out.print(later.explain(language), markup=False)
    raise typer.Exit(0 if later.plan.status in ("found", "already") else 1)


@planning.command()
def lint(
    problem: ProblemFile,
    *,
    rows: Annotated[
        Path | None, typer.Option(help="A file of people, to count the exceptions to each rule.")
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept an edit of a folder with a model.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Show every finding, not the first ten of each kind.")
    ] = False,
    trust: TrustOption = None,
) -> None:
    """Print the laws of a problem and warn of suspicious parts."""
    if accept:
        if not problem.is_dir():
            raise P2CError(
                f"--accept: {problem} is no folder with a model, and any edit of a file counts"
            )
        from p2c._folder import accept_edit

        changed = accept_edit(problem, Trust.of(trust or ()))
        out.print(f"accepted: {', '.join(changed) or 'nothing was changed'}", markup=False)
    loaded = Problem.load(problem, trust=Trust.of(trust or ()))
    people = loaded.read_rows(rows) if rows else []
    show_laws(out, loaded.theory)
    if rows:
        show_breaches(out, loaded.theory, people)
    findings = loaded.findings()
    for finding in findings if every else summarized(findings):
        place = f"{loaded.spec.rules_file}: " if loaded.spec.rules_file and finding.line else ""
        known = f" (accepted: {finding.reason})" if finding.reason else ""
        out.print(f"{place}{finding}{known}", markup=False)
    if all(each.reason for each in findings):
        out.print("nothing to report" if not findings else "nothing else to report")
    raise typer.Exit(0 if all(each.reason for each in findings) else 1)


@planning.command()
def space(problem: ProblemFile, *, as_json: AsJson = False, trust: TrustOption = None) -> None:
    """Show the size of the search space, raw and in cells of the rules or model."""
    report = load_problem(problem, trust).space()
    if as_json:
        print_json(report.to_dict())
    else:
        show_space(out, report)


LETTERS = ("lender", "reg-b", "ccd2", "colorado", "plain")
"""The files for letters and notices that can be written out to be edited."""


@planning.command()
def example(
    name: Annotated[
        str | None,
        typer.Argument(
            help=f"One of {', '.join(datasets.names())}; lender, or a form of a notice such as reg-b."
        ),
    ] = None,
    *,
    folder: Annotated[Path, typer.Option("--to", help="The folder for the files.")] = Path(),
) -> None:
    """List the embedded problems, or write one as TOML with example rows.

    It also writes the files of letters and notices.
    """
    if name is None:
        for each in datasets.names():
            out.print(f"{each}: rows {', '.join(datasets.rows(each))}", markup=False)
        return
    if name in LETTERS:
        from p2c._notices.form import form_text

        write_new(folder / f"{name}.toml", form_text(name))
        return
    text, rows = datasets.problem_text(name), datasets.rows(name)
    files = {f"{name}.toml": text}
    files |= {
        f"{name}-{row}.json": json.dumps(values, indent=2) + "\n" for row, values in rows.items()
    }
    for file, content in files.items():
        write_new(folder / file, content)
