"""JSON schemas as Markdown: a table of keys for each object, with its type, its default and what it means."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def keys_table(schema: Schema, definitions: Schema) -> str:
    """Return the keys of an object as a table."""
    lines = ["| key | holds | default | meaning |", "| --- | --- | --- | --- |"]
    required = schema.get("required", ())
    for name, each in schema["properties"].items():
        default = "needed" if name in required else _default(each)
        meaning = cell(each.get("description") or _described(each, definitions))
        lines.append(f"| `{name}` | {kind(each, definitions)} | {default} | {meaning} |")
    return "\n".join(lines)


def kind(schema: Schema, definitions: Schema) -> str:
    """Return what a value may be, in a few words; an object of its own by its name."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        inner = definitions.get(name, {})
        if "enum" in inner:
            return kind(inner, definitions)
        return f"[{title(name)}](#{title(name).lower()})"
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            kinds = [kind(each, definitions) for each in schema[several]]
            return " or ".join(dict.fromkeys(each for each in kinds if each != "null")) or "any"
    return _plain(schema, definitions)


def title(name: str) -> str:
    """Return what readers call an object of a schema.

    >>> title("FeatureSpec"), title("StepRecord"), title("PlanRequest")
    ('Feature', 'Step', 'PlanRequest')
    """
    return name.removesuffix("Spec").removesuffix("Record") or name


def _plain(schema: Schema, definitions: Schema) -> str:
    what = schema.get("type", "text, number or list")
    if isinstance(what, list):
        return " or ".join(what)
    if what == "array":
        items = schema.get("items") or {}
        return f"list of {kind(items, definitions)}" if items else "list"
    if what == "object" and isinstance(schema.get("additionalProperties"), dict):
        inner = schema["additionalProperties"]
        return f"table of {kind(inner, definitions)}" if inner else "table"
    named = {"string": "text", "boolean": "true or false", "object": "table"}
    return named.get(what, str(what))


def _default(schema: Schema) -> str:
    if schema.get("default") in (None, "", {}, []) or isinstance(schema.get("default"), dict):
        return ""
    return f"`{schema['default']}`"


def _described(schema: Schema, definitions: Schema) -> str:
    name = schema.get("$ref", "").rsplit("/", 1)[-1]
    return str(definitions.get(name, {}).get("description", ""))


def cell(text: str) -> str:
    """Return text on one line, safe inside a table."""
    line = " ".join(text.split()).replace("<", "&lt;")
    return line.replace("|", "&#124;").replace("{", "&#123;")


def code(text: str) -> str:
    """Return text as code inside a table, where a bar would end the cell."""
    return f"<code>{cell(text)}</code>"
