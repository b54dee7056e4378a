"""A model and its problem in one folder: the same answers in another process, and every changed byte is noticed."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from skops import io

from p2c._folder import accept_edit
from p2c._folder.manifest import Manifest, read_sample, sample_rows, write_manifest, write_sample
from p2c._spec.files import file_digest
from p2c._spec.spec import Trust
from p2c._spec.toml import problem_to_toml
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.evidence import fitted_of
from tests.lending import loans

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CAUSAL = "debt(X,N) :- income(X,I), I>=90, N=<20."
ASK = """
import json, sys
from p2c import Problem
recourse, problem = Problem.load(sys.argv[1]), Problem.load(sys.argv[1])
rows = json.loads(sys.argv[2])
print(json.dumps([[recourse.plan(row).to_dict(), problem.plan(row).to_dict()] for row in rows]))
"""


def table() -> pd.DataFrame:
    people = loans(400)
    return people.assign(member=people["age"] % 2 == 0).rename(columns={"debt": "Debt now"})


def labels(people: pd.DataFrame) -> Any:
    good = people["income"] - people["Debt now"] + 20 * (people["job"] == "clerk") > 45
    return np.where(good, "good", "bad")


def piped(last: Any) -> Any:
    encoder = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    return make_pipeline(encoder, last).fit(table(), labels(table()))


def fitted(kind: str) -> Problem:
    people = table()
    numbers = people[["income", "Debt now", "age"]]
    wanted = (labels(people) == "good").astype(int)
    given: dict[str, Any] = {
        "actions": {"age": "fixed"},
        "causal": CAUSAL.replace("debt", "debt_now"),
        "law": "if",
        "name": "recourse",
    }
    if kind == "boosted":
        return Problem.from_model(
            piped(GradientBoostingClassifier(n_estimators=15, random_state=0)),
            people,
            desired="good",
            **given,
        )
    if kind == "kernel":
        return Problem.from_model(piped(SVC()), people, desired="good", **given, budget=400)
    if kind == "xgboost":
        xgboost = pytest.importorskip("xgboost")
        model = xgboost.XGBClassifier(n_estimators=8).fit(numbers, wanted)
        return Problem.from_model(model, numbers, desired=1, threshold=0.6)
    if kind == "lightgbm":
        lightgbm = pytest.importorskip("lightgbm")
        coded = people.drop(columns="member").assign(job=people["job"].astype("category"))
        coded = coded.rename(columns={"Debt now": "debt"})
        model = lightgbm.LGBMClassifier(n_estimators=8, verbose=-1).fit(coded, labels(people))
        return Problem.from_model(model, coded, desired="good")
    array = numbers.to_numpy()
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(array, wanted)
    return Problem.from_model(model, array, desired=1)


@pytest.fixture(scope="module", params=["boosted", "kernel", "xgboost", "lightgbm", "array"])
def saved(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Problem, Path]:
    recourse = fitted(request.param)
    folder = tmp_path_factory.mktemp("folders") / request.param
    recourse.save(folder)
    return request.param, recourse, folder


@pytest.fixture(scope="module")
def boosted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("boosted") / "desk"
    fitted("boosted").save(folder)
    return folder


@pytest.fixture
def folder(boosted: Path, tmp_path: Path) -> Path:
    """Return a copy of a folder to do harm to."""
    place = tmp_path / "desk"
    place.mkdir()
    for each in boosted.iterdir():
        (place / each.name).write_bytes(each.read_bytes())
    return place


def test_another_process_gives_byte_equal_answers(saved: tuple[str, Problem, Path]) -> None:
    _, recourse, folder = saved
    people = fitted_of(recourse).rows
    rows = json.loads(people[~recourse.decide(people).to_numpy()].head(4).to_json(orient="records"))
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASK, str(folder), json.dumps(rows)],
        capture_output=True,
        text=True,
        check=True,
    )
    for row, (again, plain) in zip(rows, json.loads(told.stdout), strict=True):
        answer = recourse.plan(row).to_dict()
        assert json.dumps(again) == json.dumps(answer)
        assert plain == {key: answer[key] for key in plain}


def test_a_loaded_folder_gives_equal_plans_and_assumptions(
    saved: tuple[str, Problem, Path],
) -> None:
    _, problem, folder = saved
    loaded = Problem.load(folder)
    assert loaded.assumptions == problem.assumptions
    people = fitted_of(problem).rows
    for row in people[~problem.predict(people).to_numpy()].head(3).to_dict("records"):
        plan, again = problem.plan(row), loaded.plan(row)
        assert again == plan
        assert again.to_json() == plan.to_json()


def test_the_problem_is_readable_and_the_model_is_in_its_own_safe_format(
    saved: tuple[str, Problem, Path],
) -> None:
    kind, recourse, folder = saved
    files = {"xgboost": "model.ubj", "lightgbm": "model.txt"}
    assert (folder / files.get(kind, "model.skops")).is_file()
    text = (folder / "problem.toml").read_text()
    assert "[model]" in text
    if kind == "boosted":
        assert 'debt_now = "Debt now"' in text
        assert "debt_now(X,N) :- income(X,I), I>=90, N=<20." in text
    manifest = Manifest.model_validate_json((folder / "manifest.json").read_text())
    assert manifest.model.read is (kind != "kernel")
    assert manifest.versions["scikit-learn"]
    assert str(recourse.reading) == manifest.model.told


def test_a_loaded_recourse_can_be_saved_again(boosted: Path, tmp_path: Path) -> None:
    Problem.load(boosted).save(tmp_path / "again")
    again = Problem.load(tmp_path / "again")
    row = table().iloc[0].to_dict()
    assert again.plan(row).to_dict() == Problem.load(boosted).plan(row).to_dict()


@pytest.mark.parametrize(
    "name", ["problem.toml", "model.skops", "sample.csv", "stand_in.lp", "manifest.json"]
)
def test_a_byte_changed_in_any_file_is_noticed(name: str, folder: Path) -> None:
    path = folder / name
    data = path.read_bytes()
    for place in (0, len(data) // 3, len(data) // 2, len(data) - 1):
        before, after = data[:place], data[place + 1 :]
        other = b"8" if data[place : place + 1] == b"7" else b"7"
        for changed in (before + other + after, before + after, before + b"\n" + data[place:]):
            path.write_bytes(changed)
            with pytest.raises(P2CError, match=name) as found:
                Problem.load(folder)
            assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b'"format": 1', b'"format":  1'),
        lambda data: data.replace(b'"format": 1', b'"format": 1, "format": 1'),
        lambda data: data + b" ",
    ],
)
def test_blanks_and_line_ends_of_the_manifest_are_bytes_too(
    change: Callable[[bytes], bytes], folder: Path
) -> None:
    path = folder / "manifest.json"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(P2CError, match=r"manifest\.json: modified since it was written"):
        Problem.load(folder)


def edit_manifest(
    folder: Path, change: Callable[[dict[str, Any]], None], *, checksum: bool
) -> None:
    path = folder / "manifest.json"
    keys = json.loads(path.read_text())
    change(keys)
    if checksum:
        write_manifest(folder, Manifest.model_validate(keys))
    else:
        path.write_text(json.dumps(keys, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "checksum", "message"),
    [
        (lambda keys: keys.update(budget=9), False, "modified since it was written"),
        (lambda keys: keys.update(more=1), False, "not as p2c writes it"),
        (lambda keys: keys["files"].update({"../a": "0"}), True, "no file of this folder"),
        (lambda keys: keys["files"].pop("model.skops"), True, "no hash of model.skops"),
        (lambda keys: keys["sample"].update(accepted=""), True, "modified"),
        (lambda keys: keys["sample"].update(accepted="00" * 60), True, "decides otherwise"),
        (lambda keys: keys["files"].update({"gone.csv": "0"}), True, "gone.csv: a file of the"),
    ],
)
def test_a_modified_manifest_is_refused(
    change: Callable[[dict[str, Any]], None], checksum: bool, message: str, folder: Path
) -> None:
    edit_manifest(folder, change, checksum=checksum)
    with pytest.raises(P2CError, match=message):
        Problem.load(folder)


def test_a_model_that_decides_otherwise_names_the_versions(folder: Path) -> None:
    other = piped(GradientBoostingClassifier(n_estimators=2, random_state=0))
    io.dump(other, folder / "model.skops")
    from p2c._spec.files import file_digest

    def change(keys: dict[str, Any]) -> None:
        keys["files"]["model.skops"] = file_digest(folder / "model.skops")
        keys["versions"]["scikit-learn"] = "0.1"

    edit_manifest(folder, change, checksum=True)
    with pytest.raises(
        P2CError, match=r"decides otherwise .* written with scikit-learn 0\.1, here"
    ):
        Problem.load(folder)


def test_a_hostile_model_file_is_refused_in_one_line(folder: Path) -> None:
    from p2c._spec.files import file_digest

    neighbours = KNeighborsClassifier(algorithm="kd_tree").fit(
        table()[["income", "age"]], labels(table())
    )
    hostile = {
        "holds types that are not known": io.dumps(neighbours),
        "whatever its name says": pickle.dumps({}),
        "cannot be read as a skops file": b"PK\x03\x04 no zip",
    }
    for message, data in hostile.items():
        (folder / "model.skops").write_bytes(data)
        edit_manifest(
            folder,
            lambda keys: keys["files"].update({"model.skops": file_digest(folder / "model.skops")}),
            checksum=True,
        )
        with pytest.raises(P2CError, match=message) as found:
            Problem.load(folder)
        assert "\n" not in str(found.value)


def test_an_edit_counts_once_it_is_accepted(folder: Path) -> None:
    path = folder / "problem.toml"
    path.write_text(path.read_text().replace('action = "fixed"', 'action = "up"'))
    with pytest.raises(P2CError, match=r"p2c lint .* --accept"):
        Problem.load(folder)
    assert accept_edit(folder) == ["problem.toml"]
    assert Problem.load(folder).theory.feature["age"].action.value == "up"
    assert accept_edit(folder) == []


def test_a_file_of_rules_is_one_of_the_folders_files(folder: Path) -> None:
    problem = folder / "problem.toml"
    keys = tomllib.loads(problem.read_text())
    rules = folder / "own.lp"
    rules.write_text(keys.pop("rules"))
    problem.write_text(problem_to_toml(keys | {"rules_file": "own.lp"}))
    assert accept_edit(folder) == ["problem.toml", "own.lp"]
    Problem.load(folder)
    rules.write_text(":- income(X,N), N>=1.\n")
    for read in (Problem.load, Problem.outline):
        with pytest.raises(P2CError, match=r"own.lp: changed since .* p2c lint .* --accept"):
            read(folder)
    assert accept_edit(folder) == ["own.lp"]
    Problem.load(folder)
    problem.write_text(problem_to_toml(keys | {"rules": ""}))
    rules.unlink()
    assert accept_edit(folder) == ["problem.toml"]
    Problem.load(folder)


def test_a_file_of_rules_that_the_manifest_does_not_list_is_refused(folder: Path) -> None:
    problem = folder / "problem.toml"
    keys = tomllib.loads(problem.read_text())
    (folder.parent / "outside.lp").write_text(keys.pop("rules"))
    problem.write_text(problem_to_toml(keys | {"rules_file": "../outside.lp"}))

    def as_before(written: dict[str, Any]) -> None:
        written["files"]["problem.toml"] = file_digest(problem)

    edit_manifest(folder, as_before, checksum=True)
    with pytest.raises(P2CError, match=r"does not list '\.\./outside\.lp'"):
        Problem.load(folder)
    with pytest.raises(P2CError, match="expected a file of rules in this folder"):
        accept_edit(folder)


def test_no_edit_of_the_model_and_none_that_cannot_be_read_is_accepted(folder: Path) -> None:
    path = folder / "problem.toml"
    before = path.read_text()
    path.write_text(before.replace("model.skops", "other.skops"))
    with pytest.raises(P2CError, match=r"expected 'model\.skops', for which the folder was made"):
        accept_edit(folder)
    path.write_text(before.replace('type = "int"', 'type = "integer"', 1))
    with pytest.raises(P2CError, match="type: line 21, column 1: expected"):
        accept_edit(folder)
    path.write_text(before)
    (folder / "sample.csv").write_text("income\n1\n")
    with pytest.raises(P2CError, match=r"sample\.csv: changed .* again"):
        accept_edit(folder)


def test_rules_that_cannot_be_read_are_not_accepted(folder: Path) -> None:
    path = folder / "problem.toml"
    manifest = next(each for each in folder.glob("*.json"))
    before = manifest.read_bytes()
    text = path.read_text()
    assert "rules = '''" in text
    path.write_text(text.replace("rules = '''", "rules = '''\nwild(X) :- nowhere(X,1).", 1))
    with pytest.raises(P2CError, match=r"problem\.toml: .*nowhere"):
        accept_edit(folder)
    assert manifest.read_bytes() == before


def test_what_has_no_safe_format_is_kept_as_a_pickle_on_request_only(tmp_path: Path) -> None:
    people = table()[["income", "age"]]
    model = KNeighborsClassifier(algorithm="kd_tree").fit(people, labels(table()))
    recourse = Problem.from_model(model, people, desired="good")
    with pytest.raises(P2CError, match="keep it as a pickle with pickle=True"):
        recourse.save(tmp_path / "desk")
    assert not list(tmp_path.iterdir())
    recourse.save(tmp_path / "desk", pickle=True)
    with pytest.raises(P2CError, match=r"can run any code .* --trust pickle .* trust='pickle'"):
        Problem.load(tmp_path / "desk")
    row = {"income": 20, "age": 40}
    given: tuple[Any, ...] = (Trust(pickle=True), "pickle", ["pickle"], ("pickle", "a.Type"))
    for trust in given:
        again = Problem.load(tmp_path / "desk", trust=trust)
        assert again.plan(row).to_dict() == recourse.plan(row).to_dict()
    assert Problem.load(tmp_path / "desk", trust="pickle").plan(row).status == "found"
    for nothing in (True, 5, [1]):
        with pytest.raises(P2CError, match="trust: expected 'pickle' or names of types"):
            Problem.load(tmp_path / "desk", trust=nothing)  # type: ignore[arg-type]


@pytest.mark.parametrize("gap", [0, -999])
def test_the_number_that_xgboost_takes_for_a_missing_value_is_kept(
    gap: int, tmp_path: Path
) -> None:
    xgboost = pytest.importorskip("xgboost")
    chance = np.random.default_rng(0)
    people = pd.DataFrame({name: chance.integers(1, 7, 300) * 1.0 for name in ("a", "b")})
    model = xgboost.XGBClassifier(n_estimators=10, max_depth=2, missing=gap, n_jobs=1)
    model.fit(people, (people["a"] <= 2).astype(int))
    keys = {"a": {"min": min(gap, 0), "step": 1}}
    recourse = Problem.from_model(model, people, desired=1, features=keys, actions={"b": "fixed"})
    recourse.save(tmp_path / "desk")
    again = Problem.load(tmp_path / "desk")
    row = {"a": float(gap), "b": 3.0}
    assert recourse.plan(row).status == "found"
    assert again.plan(row).to_dict() == recourse.plan(row).to_dict()


def test_what_a_librarys_own_file_leaves_out_is_noticed_and_kept_otherwise(tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    people = table()[["income", "Debt now", "age"]]
    model = lightgbm.LGBMClassifier(
        n_estimators=30,
        verbose=-1,
        n_jobs=1,
        pred_early_stop=True,
        pred_early_stop_freq=2,
        pred_early_stop_margin=0.1,
    ).fit(people, labels(table()))
    recourse = Problem.from_model(model, people, desired="good", budget=200)
    recourse.save(tmp_path / "desk")
    assert not (tmp_path / "desk" / "model.txt").exists()
    again = Problem.load(tmp_path / "desk")
    assert (again.decide(people) == recourse.decide(people)).all()


def test_a_model_whose_file_answers_otherwise_is_not_saved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    people = table()[["income", "age"]]
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    other = RandomForestClassifier(5, max_depth=3, random_state=1)
    recourse = Problem.from_model(forest.fit(people, labels(table())), people, desired="good")
    other.fit(people, labels(table()))
    dump = io.dump
    monkeypatch.setattr(io, "dump", lambda model, path: dump(other, path))
    with pytest.raises(P2CError, match="does not give the model's own answers") as found:
        recourse.save(tmp_path / "desk")
    assert "\n" not in str(found.value)
    assert not list(tmp_path.iterdir())


def test_what_a_safe_file_cannot_hold_at_all_is_said_in_one_line(tmp_path: Path) -> None:
    people = table()[["income", "age"]]
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(people, labels(table()))
    model.history_ = memoryview(b"")
    recourse = Problem.from_model(model, people, desired="good")
    with pytest.raises(P2CError, match=r"cannot be kept in a safe file .* pickle=True") as found:
        recourse.save(tmp_path / "desk")
    assert "\n" not in str(found.value)


def test_a_folder_that_exists_is_left_as_it_is_unless_it_is_to_be_replaced(
    boosted: Path, tmp_path: Path
) -> None:
    recourse = Problem.load(boosted)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    for replace in (False, True):
        with pytest.raises(P2CError, match="exists; it stays unchanged"):
            recourse.save(tmp_path / "mine", replace=replace)
    recourse.save(tmp_path / "desk")
    kept = (tmp_path / "desk" / "manifest.json").stat()
    with pytest.raises(P2CError, match="replace: expected True or False, found 'no'"):
        recourse.save(tmp_path / "desk", replace="no")  # type: ignore[arg-type]
    assert (tmp_path / "desk" / "manifest.json").stat() == kept
    (tmp_path / "desk" / "notes.txt").write_text("keep")
    with (tmp_path / "desk" / "problem.toml").open("a") as file:
        file.write("# edited\n")
    recourse.save(tmp_path / "desk", replace=True)
    assert (tmp_path / "desk" / "notes.txt").read_text() == "keep"
    assert (tmp_path / "desk" / "problem.toml.before").read_text().endswith("# edited\n")
    assert Problem.load(tmp_path / "desk").to_dict() == recourse.to_dict()
    (tmp_path / "desk" / "manifest.json").write_text("torn")
    recourse.save(tmp_path / "desk", replace=True)
    assert Problem.load(tmp_path / "desk").to_dict() == recourse.to_dict()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["desk", "mine"]


def test_recorded_decisions_are_no_model() -> None:
    with pytest.raises(P2CError, match="recorded decisions are no model"):
        Problem.from_model("paid", table().assign(paid=labels(table())), desired="good")


def test_a_sample_comes_back_typed_as_it_was(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "whole": [1, -2, 3],
            "float": [0.1, np.nan, 1e300],
            "small": np.array([0.1, 2, 3], dtype=np.float32),
            "text": ["a,\rb", 'say "x"', "new\nline"],
            "object": pd.Series([True, None, False], dtype=object),
            "gap": pd.Series(["a", np.nan, "b"], dtype=object),
            "blank": pd.Series(["a", "", "b"], dtype=object),
            "truth": [True, False, True],
            "maybe": pd.array([1, None, 3], dtype="Int64"),
            "kind": pd.Categorical(["b", None, "a"], categories=["b", "a", "c"], ordered=True),
            "code": pd.Categorical([3, 1, 3]),
        }
    )
    columns = write_sample(frame, tmp_path / "sample.csv")
    pd.testing.assert_frame_equal(read_sample(tmp_path / "sample.csv", columns), frame)


def test_a_sample_keeps_the_extremes_and_every_category() -> None:
    frame = loans(5_000).assign(rare=["rare" if n == 4_321 else "usual" for n in range(5_000)])
    kept = frame.iloc[sample_rows(frame, most=50)]
    assert len(kept) == 50
    assert set(kept["rare"]) == {"rare", "usual"}
    for name in ("income", "debt", "age"):
        assert (kept[name].min(), kept[name].max()) == (frame[name].min(), frame[name].max())
