"""Check the English of each package against a baseline.

`docs/glossary.md` and CONTRIBUTING say which words to use. This check counts the places that break three rules:

- `summary`: a first docstring line is longer than 79 characters or contains a vague pronoun;
- `words`: a docstring, a comment, a message or a page uses one of the forbidden phrases;
- `names`: a forbidden identifier lives for more than three lines.

`language_baseline.toml` holds the number of findings that each package may have. A number above it fails. `--update`
lowers the baseline to the present counts and never raises it.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).parents[1]
BASELINE = Path(__file__).with_name("language_baseline.toml")
FOLDERS = ("src", "tests", "tools", "benchmarks", "website", "examples", "docs")
RULES = ("summary", "words", "names")
SUMMARY_LENGTH = 79
SHORT_SCOPE = 3
VAGUE = re.compile(r"\b(?:what|some|those|of\s+them|so\s+many|so\s+much)\b", re.IGNORECASE)
FORBIDDEN = re.compile(
    r"\b(?:hangs\s+on|anew|somebody|whoever|told|let\s+pass|as\s+it\s+is|no\s+way|by\s+itself)\b",
    re.IGNORECASE,
)
NAMES = frozenset({"told", "asked", "found", "known", "given"})
CODE = re.compile(r"`[^`\n]*`")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
OTHER_REGISTER = (
    "src/p2c/_explain/",
    "src/p2c/_server/pages/",
    "tests/",
)
"""Files whose string literals are letters or applicant pages, or quote them."""
UNCHECKED = ("CHANGELOG.md",)
HUNK = re.compile(r"^(?:\+\+\+ b/(.*)|@@ \S+ \+(\d+)(?:,(\d+))? @@)", re.MULTILINE)

Counts = dict[str, dict[str, int]]
"""The number of findings by package and rule; a missing entry is zero."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One place that breaks a rule."""

    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


@dataclass(slots=True)
class Scope:
    """The lines on which forbidden names occur in one function, class or module."""

    local: bool
    bound: set[str] = field(default_factory=set)
    lines: dict[str, list[int]] = field(default_factory=dict)


def check_python(path: str, source: str) -> Iterator[Finding]:
    """Yield the findings of a Python file."""
    tree = ast.parse(source)
    docstrings = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text)) as literal):
                docstrings.add(literal)
                yield from _check_summary(path, literal.lineno, text)
                yield from check_words(path, literal.lineno, text)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield from check_words(path, token.start[0], token.string)
    if not path.startswith(OTHER_REGISTER):
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and node not in docstrings and _is_prose(node.value):
                yield from check_words(path, node.lineno, str(node.value))
    for line, name in sorted(_forbidden_names(tree)):
        yield Finding(path, line, "names", f"`{name}` lives for more than {SHORT_SCOPE} lines")


def check_words(path: str, line: int, text: str) -> Iterator[Finding]:
    """Yield the forbidden phrases of a text outside quoted code.

    Args:
        path: File that contains the text.
        line: Line of the file on which the text begins.
        text: A docstring, a comment, a message or a page.
    """
    prose = _without_code(text)
    for match in FORBIDDEN.finditer(prose):
        place = line + prose.count("\n", 0, match.start())
        yield Finding(path, place, "words", f"forbidden phrase “{' '.join(match[0].split())}”")


def check_page(path: str, text: str) -> Iterator[Finding]:
    """Yield the forbidden phrases of a Markdown page outside its blocks of code."""
    yield from check_words(path, 1, FENCE.sub(_blank, text))


def findings(root: Path) -> list[Finding]:
    """Return all findings of the repository below `root`, sorted by place."""
    result: list[Finding] = []
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    modules = [path for folder in FOLDERS for path in (root / folder).rglob("*.py")]
    for path in [*pages, *modules]:
        name = path.relative_to(root).as_posix()
        if name not in UNCHECKED:
            check = check_page if path.suffix == ".md" else check_python
            result += check(name, path.read_text(encoding="utf-8"))
    return sorted(result)


def package_of(path: str) -> str:
    """Return the baseline entry that a file counts for.

    >>> package_of("src/p2c/_plan/search/ends.py"), package_of("src/p2c/errors.py"), package_of("README.md")
    ('src/p2c/_plan', 'src/p2c', 'pages')
    """
    folders = path.split("/")[:-1]
    if not folders:
        return "pages"
    return "/".join(folders[:3] if folders[0] == "src" else folders[:1])


def count(places: Iterable[Finding]) -> Counts:
    """Return the number of findings by package and rule."""
    tally = Counter((package_of(each.path), each.rule) for each in places)
    packages = sorted({package for package, _ in tally})
    return {
        package: {rule: tally[package, rule] for rule in RULES if tally[package, rule]}
        for package in packages
    }


def lowered(baseline: Counts, present: Counts) -> Counts:
    """Return the minimum of two tables; a package or rule only in one is left out."""
    reduced = {
        package: {
            rule: min(most, present.get(package, {}).get(rule, 0)) for rule, most in rules.items()
        }
        for package, rules in baseline.items()
    }
    kept = {
        package: {rule: n for rule, n in rules.items() if n} for package, rules in reduced.items()
    }
    return {package: rules for package, rules in kept.items() if rules}


def read_baseline(path: Path) -> Counts:
    """Read the allowed number of findings by package and rule."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def write_baseline(counts: Counts, path: Path) -> None:
    """Write the allowed number of findings, one line a package."""
    lines = [
        "# The findings that each package may still have: `python -m tools.language --update` lowers them."
    ]
    for package, rules in sorted(counts.items()):
        numbers = ", ".join(f"{rule} = {rules[rule]}" for rule in RULES if rule in rules)
        lines.append(f'"{package}" = {{ {numbers} }}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def differences(baseline: Counts, present: Counts) -> Iterator[tuple[str, str, int, int]]:
    """Yield package, rule, present count and allowed count where these two differ."""
    for package in sorted({*baseline, *present}):
        for rule in RULES:
            here, most = (each.get(package, {}).get(rule, 0) for each in (present, baseline))
            if here != most:
                yield package, rule, here, most


def added_lines(diff: str) -> Mapping[str, set[int]]:
    """Return the line numbers added by a diff without context, by file."""
    lines: dict[str, set[int]] = {}
    path = ""
    for match in HUNK.finditer(diff):
        if match[1] is not None:
            path = match[1]
            continue
        first, length = int(match[2]), int(match[3] or 1)
        lines.setdefault(path, set()).update(range(first, first + length))
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check.

    Returns:
        The exit code: 1 if a package has more findings than its baseline allows.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tools.language", description="Check the English."
    )
    parser.add_argument("--list", metavar="PREFIX", help="list the findings of files below a path")
    parser.add_argument(
        "--changed", metavar="REF", help="list those on lines added since a git commit"
    )
    parser.add_argument(
        "--update", action="store_true", help="lower the baseline to the present counts"
    )
    options = parser.parse_args(arguments)
    places = findings(ROOT)
    if options.list is not None:
        return _show(each for each in places if each.path.startswith(options.list))
    if options.changed is not None:
        added = added_lines(_diff(options.changed))
        return _show(each for each in places if each.line in added.get(each.path, ()))
    present = count(places)
    baseline = read_baseline(BASELINE)
    if options.update:
        baseline = lowered(baseline, present)
        write_baseline(baseline, BASELINE)
    return _report(list(differences(baseline, present)))


def _report(changes: Sequence[tuple[str, str, int, int]]) -> int:
    above = [each for each in changes if each[2] > each[3]]
    for package, rule, here, most in above:
        print(f"{package}: {here} findings of `{rule}`, {most} allowed")
    if above:
        print(
            "List new ones with `python -m tools.language --changed main`, all with `--list PATH`."
        )
        return 1
    if changes:
        print(
            "Fewer findings than the baseline allows: lower it with `python -m tools.language --update`."
        )
    return 0


def _show(places: Iterable[Finding]) -> int:
    for each in places:
        print(each)
    return 0


def _diff(reference: str) -> str:
    command = ["git", "diff", "-U0", "--no-color", "--no-ext-diff", "--merge-base", reference]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def _check_summary(path: str, line: int, docstring: str) -> Iterator[Finding]:
    summary = next(iter(docstring.strip().splitlines()), "")
    if len(summary) > SUMMARY_LENGTH:
        yield Finding(path, line, "summary", f"first line of {len(summary)} characters")
    elif match := VAGUE.search(_without_code(summary)):
        yield Finding(path, line, "summary", f"vague “{match[0]}” in the first line")


def _forbidden_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each forbidden binding in a longer scope."""

    def visit(node: ast.AST, scopes: tuple[Scope, ...]) -> Iterator[tuple[int, str]]:
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()) if name in NAMES:
                yield line, name
            case ast.Name(id=name) if name in NAMES:
                _occur(scopes, name, line, binds=isinstance(node.ctx, ast.Store))
            case (
                ast.arg(arg=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.alias(asname=str(name))
            ) if name in NAMES:
                _occur(scopes, name, line, binds=True)
        inner = _new_scope(node)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, scopes if inner is None else (*scopes, inner))
        if inner is not None:
            yield from _long_lived(inner)

    module = Scope(local=False)
    yield from visit(tree, (module,))
    yield from _long_lived(module)


def _occur(scopes: tuple[Scope, ...], name: str, line: int, *, binds: bool) -> None:
    """Record an occurrence of a name in all enclosing scopes."""
    for scope in scopes:
        scope.lines.setdefault(name, []).append(line)
    if binds:
        scopes[-1].bound.add(name)


def _new_scope(node: ast.AST) -> Scope | None:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    if isinstance(node, (*functions, *comprehensions)):
        return Scope(local=True)
    return Scope(local=False) if isinstance(node, ast.ClassDef) else None


def _long_lived(scope: Scope) -> Iterator[tuple[int, str]]:
    for name in scope.bound:
        first, last = min(scope.lines[name]), max(scope.lines[name])
        if not scope.local or last - first >= SHORT_SCOPE:
            yield first, name


def _is_prose(value: object) -> bool:
    return isinstance(value, str) and " " in value.strip()


def _without_code(text: str) -> str:
    """Blank out quoted code; the positions of lines stay."""
    return CODE.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


if __name__ == "__main__":
    sys.exit(main())
