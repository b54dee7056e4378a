"""Pages of the reference, each generated from what it describes, so that it follows by itself."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import p2c
from website.schema_tables import cell, code, keys_table, kind, title

if TYPE_CHECKING:
    from collections.abc import Iterator

METHODS = ("get", "post", "put", "delete")


def problem_page() -> str:
    """Return every key of a problem, from the schema that reads it."""
    from p2c._spec.spec import ProblemSpec

    schema = ProblemSpec.model_json_schema(by_alias=True)
    definitions = schema.get("$defs", {})
    parts = [
        "# Keys of a problem",
        "A problem is a TOML or JSON file, or a dict of the same shape. An unknown key is refused, with a hint what was"
        " meant. What the keys mean for the answer is told in [what everything means](../meaning.md).",
        keys_table(schema, definitions),
    ]
    parts += _objects(definitions)
    return "\n\n".join(parts)


def plan_page() -> str:
    """Return the plan's JSON, from the schema by which it is read and written."""
    from p2c._plan.plan_json import PlanRecord

    schema = PlanRecord.model_json_schema(by_alias=True)
    definitions = schema.get("$defs", {})
    plan = definitions.pop("PlanRecord", schema)
    parts = [
        "# A plan as JSON",
        "`p2c plan --json`, `plan.to_json()` and the service write this, `p2c check` and `Plan.from_dict` read it."
        " `p2c export PROBLEM ROW --to json-schema` writes the schema for one problem.",
        "An example is [here](../meaning.md#8-the-plan-as-json).",
        "## Plan",
        keys_table(plan, {**definitions, "PlanRecord": plan}),
    ]
    return "\n\n".join([*parts, *_objects(definitions)])


def _objects(definitions: dict[str, Any]) -> list[str]:
    """Return a section for each object that a schema refers to."""
    parts = []
    for name, each in definitions.items():
        if "properties" in each:
            parts += [
                f"## {title(name)}",
                cell(each.get("description", "")),
                keys_table(each, definitions),
            ]
    return parts


def commands_page() -> str:
    """Return every command with its arguments and options, from the command line itself."""
    import typer
    from typer.core import TyperGroup
    from typer.main import get_command

    from p2c.cli.app import app

    whole = get_command(app)
    assert isinstance(whole, TyperGroup)
    context = typer.Context(whole, info_name="p2c")
    parts = ["# Commands", str(whole.help), EXIT_CODES]
    for name in whole.list_commands(context):
        command = whole.get_command(context, name)
        assert command is not None, "it was listed"
        parts += [
            f"## p2c {name}",
            cell(command.help or ""),
            f"```text\n{_usage(command, name)}\n```",
        ]
        parts.append("\n".join(_options(command)))
    return "\n\n".join(parts)


EXIT_CODES = """\
| exit code | meaning |
| --- | --- |
| 0 | found, or already there; all is well |
| 1 | there is no way, or the search gave up; `lint`: warnings; `check`: faults; `review`: rules left to answer |
| 2 | bad input: one line says what is wrong, where, and what would be right |
| 130 | interrupted |
| 141 | nobody reads the output any more (<code>… &#124; head -1</code>) |

`-` in the place of a row or a plan reads standard input; `batch` and `audit`, which go on where they were stopped, read files."""


def _usage(command: Any, name: str) -> str:
    places = [each.name.upper() for each in command.params if each.param_type_name == "argument"]
    return " ".join(["p2c", name, *places, "[OPTIONS]"])


def _options(command: Any) -> Iterator[str]:
    """Yield a table of what a command takes, as its own help has it."""
    import typer

    context = typer.Context(command)
    yield "| argument or option | meaning |"
    yield "| --- | --- |"
    for each in command.params:
        record = each.get_help_record(context)
        if record is not None:
            name, meaning = record
            yield f"| {code(name)} | {cell(meaning)} |"


def http_page() -> str:
    """Return every route of the service, from its OpenAPI description."""
    from p2c._server.app import build_app
    from p2c._server.settings import Settings

    document = build_app(Settings(pages=False)).openapi()
    definitions = document["components"]["schemas"]
    parts = [
        "# HTTP",
        f"{document['info']['summary']} Started with [`p2c serve --api`](../service.md); `GET /openapi.json` has this for machines.",
    ]
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            if method in METHODS:
                parts += [f"## {method.upper()} {path}", *_route(route, definitions)]
    parts += ["# Messages", *_objects(definitions)]
    return "\n\n".join(parts)


def _route(route: dict[str, Any], definitions: dict[str, Any]) -> Iterator[str]:
    yield cell(route.get("description") or route.get("summary", ""))
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    if "schema" in body:
        yield f"Takes {kind(body['schema'], definitions)} as JSON."
    lines = ["| status | answer | meaning |", "| --- | --- | --- |"]
    for status, answer in route["responses"].items():
        content: dict[str, Any] = answer.get("content", {})
        schema: dict[str, Any] = next((each.get("schema", {}) for each in content.values()), {})
        what = kind(schema, definitions) if schema else ""
        lines.append(f"| {status} | {what} | {cell(answer['description'])} |")
    yield "\n".join(lines)


def python_page() -> str:
    """Return every public name, from the docstrings."""
    parts = [
        "# Python",
        "```text\nimport p2c\n```",
        "The example of a method goes on with that of its class.",
        "\n".join(
            [
                "| name | what it is |",
                "| --- | --- |",
                *(f"| [`p2c.{name}`](#{_home(name)}) | {_first_line(name)} |" for name in NAMES),
            ]
        ),
    ]
    parts += [f"::: {_home(name)}{_options_of(name)}" for name in NAMES]
    parts += [f"::: {path}" for path in FURTHER]
    return "\n\n".join(parts)


NAMES = (
    "Problem",
    "Plan",
    "FoldSE",
    "equations_from",
    "learn_causal_rules",
    "write_review",
    "read_review",
    "P2CError",
)
FURTHER = (
    "p2c._plan.rendered.Plans",
    "p2c._plan.outcome.ModelEvidence",
    "p2c._audit.audit.Audit",
    "p2c._learn.extract.logic.Extraction",
    "p2c._rules.proof.Proof",
    "p2c._plan.check.validate.Verdict",
    "p2c.datasets.embedded",
    "p2c.datasets.tables.load_frame",
    "p2c.errors",
)
"""What the public names return and raise."""


SHOWN = {
    "Problem": """
        load from_dict from_model from_table example save to_dict name restricted with_keys read_row read_rows
        plan nearest plan_many predict why reasons report audit widget check check_counterfactual read_plan lint findings space to_svg reading extraction assumptions
    """,
}
"""The members of a name that readers need, in the order in which they need them, where it has others for other layers."""


def _options_of(name: str) -> str:
    members = SHOWN.get(name, "").split()
    return f"\n    options: {{inherited_members: true, members: {members}}}" if members else ""


def _home(name: str) -> str:
    value = getattr(p2c, name)
    return f"{value.__module__}.{value.__qualname__}"


def _first_line(name: str) -> str:
    return cell((inspect.getdoc(getattr(p2c, name)) or "").split("\n\n")[0])
