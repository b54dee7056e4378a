"""What is released: built, installed into an empty environment, and there what the README promises; and nothing calls home."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import p2c
from p2c import datasets
from p2c._plan.certificate.canonical import canonical
from p2c._release import DISTRIBUTION, __version__
from p2c.problem import Problem

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
FOR_OURSELVES = {"all", "planners", "test", "docs", "bench", "dev"}
"""Extras that are not among `all`: those of developers, and planners that need Java."""


def works(name: str) -> bool:
    """Tell whether an interpreter is there, and not just a name of one."""
    found = shutil.which(name)
    if found is None:
        return False
    return subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0


PYTHONS = [sys.executable, *filter(works, ("python3.12", "python3.13", "python3.14"))]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of a release."""
    pytest.importorskip(
        "hatchling", reason="hatchling is not installed here: the extra test has it"
    )
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return folder


def test_the_files_of_a_release_hold_what_they_should(built: Path) -> None:
    wheel, source = sorted(built.iterdir(), key=lambda path: path.suffix != ".whl")
    assert wheel.name == f"p2c_recourse-{__version__}-py3-none-any.whl"
    inside = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in inside} == {
        "p2c",
        "p2c_verify",
        f"p2c_recourse-{__version__}.dist-info",
    }
    needed = ["py.typed", "datasets/problems/loan.toml", "datasets/data/adult.data.xz"]
    assert {f"p2c/{name}" for name in needed} <= set(inside)
    assert not [name for name in inside if name.endswith((".pyc", ".orig"))]
    with tarfile.open(source) as opened:
        archive = {name.split("/", 1)[1] for name in opened.getnames() if "/" in name}
    assert {"pyproject.toml", "LICENSE", "README.md", "tests/test_release.py"} <= archive
    assert {"website/hooks.py", "conda/recipe.yaml", ".github/workflows/release.yml"} <= archive
    assert not [name for name in archive if name.startswith((".venv", "build", ".git/"))]
    assert "benchmarks/report/REPORT.md" in archive  # a page of the site
    assert not [name for name in archive if "benchmarks/" in name and name.endswith(".py")]


@pytest.mark.parametrize("python", PYTHONS, ids=lambda path: Path(path).name)
def test_an_empty_environment_has_what_the_readme_promises(
    built: Path, tmp_path: Path, python: str
) -> None:
    subprocess.run([python, "-m", "venv", "empty"], cwd=tmp_path, check=True)
    tool = tmp_path / "empty/bin"
    wheel = next(built.glob("*.whl"))
    install = [
        str(tool / "python"),
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        str(wheel),
    ]
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(install, env=alone, capture_output=True, text=True, check=False)
    if "No matching distribution" in done.stderr or "Temporary failure" in done.stderr:
        pytest.skip("what p2c needs cannot be had here without a package index")
    assert done.returncode == 0, done.stderr

    def run(*words: str) -> tuple[int, str]:
        command = [str(tool / words[0]), *words[1:]]
        done = subprocess.run(
            command, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    assert run("p2c", "--version") == (0, f"p2c {__version__}\n")
    assert run("p2c", "example", "loan")[0] == 0
    code, shown = run("p2c", "plan", "loan.toml", "loan-john.json")
    assert (code, "No cheaper way exists; this is proved." in shown) == (0, True)
    for words, extra in HINTS.items():
        code, shown = run(*words)
        assert f"pip install '{DISTRIBUTION}[{extra}]'" in shown, (words, shown)
        assert code == (1 if words[0] == "python" else 2)
        assert words[0] == "python" or shown.count("\n") == 1


HINTS = {
    ("p2c", "plan", "loan.toml", "loan-john.json", "--engine", "clingo"): "clingo",
    ("p2c", "report", "loan.toml", "loan-john.json", "-o", "letter.pdf"): "report",
    ("p2c", "batch", "loan.toml", "people.csv", "out"): "batch",
    ("p2c", "serve"): "web",
    ("p2c", "init", "people.csv", "--target", "x"): "learn",
    ("python", "-c", "import p2c; p2c.FoldSE"): "learn",
    ("python", "-c", "import p2c; p2c.datasets.load_frame('adult')"): "pandas",
}
"""What asks for an extra, and the extra that it is told to install."""


def test_every_hint_names_an_extra_that_there_is() -> None:
    named = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "MissingExtra":
                (extra,) = [each.value for each in node.keywords if each.arg == "extra"]
                named.add(ast.literal_eval(extra))
    assert named <= EXTRAS.keys()
    assert named >= {
        "learn",
        "web",
        "batch",
        "report",
        "clingo",
        "skops",
        "onnx",
        "dask",
        "plots",
        "notebook",
    }


def test_all_is_every_extra_that_users_need() -> None:
    (requirement,) = EXTRAS["all"]
    listed = re.fullmatch(rf"{DISTRIBUTION}\[(.*)\]", requirement)
    assert listed is not None
    assert set(listed[1].split(",")) == EXTRAS.keys() - FOR_OURSELVES


@pytest.mark.parametrize("page", ["README.md", "docs/howto/index.md"])
def test_every_extra_for_users_is_in_the_tables(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [
        extra for extra in {*EXTRAS} - {"test", "docs", "bench", "dev"} if f"`{extra}`" not in text
    ] == []


def test_extras_refer_to_this_package_by_its_own_name() -> None:
    inner = [each for many in EXTRAS.values() for each in many if re.match(r"p2c\b", each)]
    assert inner
    assert all(each.startswith(f"{DISTRIBUTION}[") for each in inner)


def test_the_recipe_for_conda_asks_for_what_the_package_asks_for() -> None:
    recipe = (ROOT / "conda/recipe.yaml").read_text(encoding="utf-8")
    wanted = [each.replace(">=", " >=") for each in PROJECT["project"]["dependencies"]]
    run = recipe.split("  run:\n")[1].split("tests:")[0]
    assert re.findall(r"- (.*)", run) == ["python >=3.11", *wanted]
    assert f'version: "{__version__}"' in recipe


def test_publishing_rests_on_no_stored_secret() -> None:
    workflow = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert "id-token: write" in workflow
    assert "secrets." not in workflow


GUARDED = """
import sys
def refuse(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise SystemExit(f"{event} {args}")
sys.addaudithook(refuse)
import json, p2c
problem, row = p2c.Problem.example("loan"), json.loads(sys.argv[1])
plan = problem.plan(row)
problem.check(plan), problem.why(row), problem.nearest(row, 3), problem.space(), problem.lint()
plan.explain(), plan.explain("de"), plan.to_svg(), plan.to_png()
for kind in ("html", "md", "txt", "pdf"):
    problem.report(row, format=kind, audience="expert")
problem.plan_many(p2c.datasets.load_frame("adult").head(0).assign(**{name: [] for name in row}))
print("never called home")
"""


def test_nothing_that_is_asked_of_the_package_goes_to_the_network() -> None:
    row = json.dumps(datasets.rows("loan")["john"])
    command = [sys.executable, "-c", GUARDED, row]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "never called home\n", done.stderr


LACKING = """
import sys

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "sklearn", "scipy", "pyarrow", "clingo", "numba"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Lacking())
sys.argv = ["p2c", *sys.argv[1:]]
from p2c.__main__ import program
program()
"""


def test_rules_need_no_extra(tmp_path: Path) -> None:
    def run(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-c", LACKING, *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    assert run("example", "loan") == (0, "")
    for words in (["plan"], ["explain"], ["why"], ["nearest"], ["report", "-o", "letter.html"]):
        assert run(words[0], "loan.toml", "loan-john.json", *words[1:]) == (0, "")
    assert run("lint", "loan.toml") == (0, "")


def test_a_folder_with_a_model_names_the_extra_that_opens_it(tmp_path: Path) -> None:
    loans = pd.DataFrame({"income": range(20, 80)})
    Problem.from_model(
        DecisionTreeClassifier(max_depth=1).fit(loans, loans["income"] > 51), loans
    ).save(tmp_path / "credit")
    (tmp_path / "row.json").write_text('{"income": 40}')
    hint = (
        "this needs the package 'pandas', which is not installed: pip install 'p2c-recourse[learn]'"
    )
    for words in (
        ["plan", "credit", "row.json"],
        ["lint", "credit"],
        ["explain", "credit/problem.toml", "row.json"],
        ["serve", "--api", "credit"],
    ):
        command = [sys.executable, "-c", LACKING, *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (2, f"{hint}\n"), words


def test_the_package_says_its_version() -> None:
    assert p2c.__version__ == __version__


def test_the_checker_runs_from_the_wheel_without_any_other_package(
    built: Path, tmp_path: Path
) -> None:
    problem, row = Problem.example("loan"), datasets.rows("loan")["john"]
    plan = problem.plan(row, certificate=True)
    documents = (canonical(problem.theory), row, plan.to_dict(), plan.certificate)
    files = [tmp_path / f"{number}.json" for number in range(len(documents))]
    for path, document in zip(files, documents, strict=True):
        path.write_text(json.dumps(document), encoding="utf-8")
    wheel = next(built.glob("*.whl"))
    run = (
        "import sys; sys.path[:] = [sys.argv.pop(1), *sys.path]; import p2c_verify.__main__ as it;"
        " assert it.__file__.startswith(sys.path[0]); sys.exit(it.main(sys.argv[1:]))"
    )
    for python in PYTHONS:
        command = [python, "-I", "-S", "-c", run, str(wheel), *map(str, files)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("verified: the plan is a path of cost 0.00502")
