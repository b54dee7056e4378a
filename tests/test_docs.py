"""Every command that the documentation prints works, in the order of its page and from an empty folder.

Before a block of shell, a comment of HTML may say why it is `not run: …`, or what is `typed` into it, a line each. A
shell comment may say its `exit code`. A block of Python that begins with the name of a file is saved as that. A block of text
right after one of shell is what that prints; `…` in it stands for anything. Where the comment says that `figures depend on a fitted
model`, another version of the library that fits it may move them, and words alone are compared.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import p2c
from p2c._release import __version__
from website.hooks import EVALUATION, dated
from website.reference import FURTHER, NAMES, SHOWN, _home

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
BLOCK = re.compile(r"(?:<!-- ([^>]*?)\s*-->\n)?^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
AFTER = re.compile(r"\n\n```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FIGURE = re.compile(r"-?\d[\d.,]*")
FITTED = "figures depend on a fitted model"
SAVED = re.compile(r"# (\w+\.py)\n")
REASONS = {
    "it installs",
    "it starts a server",
    "it needs a cluster",
    "it needs podman and systemd",
}


class Block(NamedTuple):
    """What stands between two fences, its language, the comment before it, and what is said right after it to be printed."""

    note: str
    language: str
    text: str
    printed: str | None = None


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        after = AFTER.match(text, found.end()) if found[2] == "sh" else None
        yield Block(found[1] or "", found[2], found[3], after[1] if after else None)


def agrees(printed: str, expected: str) -> bool:
    """Tell whether a command printed what the page says, blanks at the ends of lines aside."""
    shown, told = (
        "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
        for text in (printed, expected)
    )
    pattern = ".*?".join(map(re.escape, re.split(r" *… *", told)))
    return re.fullmatch(pattern, shown, re.DOTALL) is not None


def run(block: Block, folder: Path) -> None:
    """Run a block as a reader would, who has installed the package and is in that folder."""
    typed = block.note.removeprefix("typed\n") if block.note.startswith("typed") else ""
    expected = re.search(r"# exit code (\d)", block.text)
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", block.text],
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == int(expected[1] if expected else 0), f"{block.text}\n{done.stderr}"
    if block.printed is not None:
        shown, told = done.stdout, block.printed
        if block.note == FITTED:
            shown, told = FIGURE.sub("#", shown), FIGURE.sub("#", told)
        assert agrees(shown, told), f"{block.text}\nprinted:\n{done.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_of_a_page_works_in_an_empty_folder(page: Path, tmp_path: Path) -> None:
    for block in blocks(page):
        if saved := SAVED.match(block.text):
            (tmp_path / saved[1]).write_text(block.text, encoding="utf-8")
        elif block.language == "sh" and not block.note.startswith("not run: "):
            run(block, tmp_path)


def test_what_is_not_run_changes_the_machine_or_needs_another() -> None:
    notes = [each.note for page in PAGES for each in blocks(page) if each.note]
    reasons = {note.removeprefix("not run: ") for note in notes if not note.startswith("typed\n")}
    assert reasons == {*REASONS, FITTED}


def test_every_block_of_python_is_run() -> None:
    texts = [each.text for page in PAGES for each in blocks(page) if each.language == "python"]
    assert [each for each in texts if not (each.startswith(">>> ") or SAVED.match(each))] == []


def test_documentation_and_examples_import_public_names_only() -> None:
    """Contributors' pages may name private modules in prose; no block imports one."""
    texts = {
        **{page.name: "".join(each.text for each in blocks(page)) for page in PAGES},
        **{path.name: path.read_text("utf-8") for path in sorted((ROOT / "examples").glob("*.py"))},
    }
    private = {
        name: found
        for name, text in texts.items()
        if (found := re.findall(r"p2c\._[a-z]\w+|(?:from|import) p2c\.\w+", text))
    }
    assert private == {}
    names = {
        name
        for text in texts.values()
        for line in re.findall(r"from p2c import ([\w, ]+)", text)
        for name in re.findall(r"(\w+)(?: as \w+)?,?", line)
    }
    assert names <= set(p2c.__all__)


def test_pages_for_users_name_no_private_module() -> None:
    for_users = [page for page in PAGES if page.name not in {"planner.md", "index.md"}]
    named = {
        page.name for page in for_users if re.search(r"\bp2c\._[a-z]", page.read_text("utf-8"))
    }
    assert named == set()


def test_the_demo_ends_as_the_readme_says(tmp_path: Path) -> None:
    (shown,) = [each.text for each in blocks(ROOT / "README.md") if each.language == "text"]
    command = "p2c example loan >/dev/null; p2c plan loan.toml loan-john.json"
    run(Block("", "sh", command, shown), tmp_path)


# The site.


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, made as strictly as `make docs` makes it."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed here: the extra docs brings it")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_fetches_nothing_from_elsewhere(site: Path) -> None:
    fetched = re.compile(r"""<(?:script|link|img|iframe)[^>]*?(?:src|href)=["']?(?:https?:)?//""")
    shown = [page.name for page in site.rglob("*.html") if fetched.search(page.read_text("utf-8"))]
    assert shown == []
    styles = [each.name for each in site.rglob("*.css") if "url(http" in each.read_text("utf-8")]
    assert styles == []


def test_the_reference_has_every_command_key_name_and_route(site: Path) -> None:
    from p2c._spec.spec import FeatureSpec, ProblemSpec
    from p2c.cli.app import HOMES

    def ids(page: str) -> str:
        return (site / "reference" / page).read_text("utf-8")

    commands = ids("commands.html")
    assert [
        name for many in HOMES.values() for name in many if f'id="p2c-{name}"' not in commands
    ] == []
    keys = ids("problem.html")
    fields = {**ProblemSpec.model_fields, **FeatureSpec.model_fields}
    assert [name for name in fields if f"<code>{name}</code>" not in keys] == []
    assert [name for name, field in fields.items() if not field.description] == []
    names = ids("python.html")
    public = [name for name in dir(p2c) if not name.startswith("__") and name != "datasets"]
    assert [name for name in public if f"p2c.{name}</code>" not in names] == []
    for method in (
        "Problem.load",
        "Problem.save",
        "Problem.plan",
        "Problem.from_model",
        "Plan.to_json",
    ):
        assert re.search(rf'id="p2c[\w.]*\.{method}"', names), method
    routes = ids("http.html")
    assert [
        each for each in ("POST /plan", "POST /check", "GET /ready") if each not in routes
    ] == []
    assert "<code>counterfactual</code>" in ids("plan-json.html")


def test_an_evaluation_of_an_earlier_version_says_so(site: Path) -> None:
    assert (
        dated("# Report\n\nVersions: p2c 0.2.0.\n", "0.2.0") == "# Report\n\nVersions: p2c 0.2.0.\n"
    )
    for name in ("p2c", "p2c-recourse"):
        report = f"# Report\n\nVersions: Python 3.12.1, {name} 0.1.0.\n"
        assert "Measured with p2c 0.1.0" in dated(report, "0.2.0")
    report = (ROOT / "benchmarks/report/REPORT.md").read_text("utf-8")
    page = (site / EVALUATION).with_suffix(".html").read_text("utf-8")
    assert ("Measured with p2c" in page) == (dated(report, __version__) != report)


def test_every_public_function_and_method_has_an_example_that_is_run() -> None:
    without = []
    for path in [*map(_home, NAMES), *FURTHER]:
        home, _, name = path.rpartition(".")
        value = getattr(import_module(home), name)
        without += [path] if ">>>" not in (value.__doc__ or "") and callable(value) else []
        shown = SHOWN.get(name, "").split() or [each for each in dir(value) if each[0] != "_"]
        for member in shown if isinstance(value, type) else ():
            found = getattr(value, member)
            own = (
                inspect.isroutine(found) and (getattr(found, "__module__", "") or "")[:4] == "p2c."
            )
            without += [f"{path}.{member}"] if own and ">>>" not in (found.__doc__ or "") else []
    assert without == []


QUESTIONS = {
    "How do I freeze a feature?": "restrict={",
    'What does "proved" mean?': "no cheaper path exists",
    "My model is LightGBM": "LGBMClassifier",
    "What if there is no way?": "plan.blockers",
    "Several classes, or a threshold of my own?": "threshold=",
    "What are the parameters?": "The permitted changes by column",
    "Why was this person refused?": "problem.why(row).reasons",
    "How do I get several alternatives?": "p2c nearest",
    "Plans for a million rows": "plan_many",
    "How fast is it?": "measured",
    "How do I limit how long it takes?": "gave_up",
    "What about missing values?": "NaN",
    "How do I save and load?": "from_dict",
    "How do I use it in a notebook?": "widget",
    "Are groups treated alike?": "--by",
    "How do I show it to the applicant?": "plan.explain",
}
"""What users ask of such a package, and what the section that answers it has to say."""


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_one_click_from_the_landing_page(site: Path, question: str) -> None:
    landing = (site / "index.html").read_text("utf-8").replace("&quot;", '"')
    (link,) = re.findall(rf'<a href="([^"]+)">{re.escape(question)}</a>', landing)
    page, _, anchor = link.partition("#")
    answer = (site / page).read_text("utf-8")
    start = answer.index(f'id="{anchor}"') if anchor else answer.index("<h1")
    end = answer.find("<h2", start + 1) if anchor else len(answer)
    told = re.sub(r"<[^>]+>", "", answer[start:end])
    assert QUESTIONS[question] in told
