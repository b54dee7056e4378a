"""Models out of files, none of which runs code that nobody vouched for.

A pickle runs whatever its author wrote as it is opened, so it takes an explicit word. A skops file names the types that
it holds, and those that are not known to be safe must be named to be let in. An ONNX file holds arithmetic only, the
files of XGBoost, LightGBM and CatBoost hold trees, a scorecard holds points.

A folder that MLflow wrote says in `MLmodel` which library wrote which file, and that is opened as if it had been given by itself;
MLflow is not needed.

XGBoost, LightGBM and CatBoost follow the numbers in their files without a look, so that one wrong byte can end the process
that asks. So a model is opened and asked for the first time in a process of its own (`try_model`).
"""

from __future__ import annotations

import json
import multiprocessing
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p2c._learn.model.asking import numbers_alone, open_model
from p2c._learn.model.onnx_model import open_onnx
from p2c._learn.model.points import load_points
from p2c._learn.model.tree_checks import CHECKED, PARTIAL, binds_other_function, check_trees
from p2c._spec.spec import Trust
from p2c.errors import MissingExtra, P2CError, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import pandas as pd

PICKLES = (".joblib", ".pkl", ".pickle")
RULES = (".lp", ".pl")
HARMLESS = (
    "builtins.object",
    "collections.OrderedDict",
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
)
"""Types in plain Python that hold numbers and nothing that runs."""
COMPRESSED = (
    b"x\x9c",
    b"x\x01",
    b"x\xda",
    b"x^",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"\x04\x22M\x18",
)
"""How files begin that joblib has compressed: zlib, gzip, bzip2, xz and lz4."""

DESCRIPTION = "MLmodel"
FLAVOURS = {
    "sklearn": "pickled_model",
    "xgboost": "data",
    "lightgbm": "data",
    "catboost": "data",
    "onnx": "data",
}
"""The libraries whose models are opened, and where a description names the file."""

TRIED = 1_000
"""How many rows the model is asked about."""
SECONDS = 60
"""How long a model may take for them; a tree that leads back to itself takes for ever."""


def load_model(path: Path, frame: pd.DataFrame, trust: Trust | None = None) -> Any:
    """Return a stored model; `frame` has the columns that it is asked about."""
    trust = trust or Trust()
    path = model_file(path)
    kind = path.suffix.lower()
    if kind not in KNOWN:
        raise P2CError(
            f"{path}: expected a file that ends in {', '.join(KNOWN)}, or a folder of MLflow"
        )
    if not path.is_file():
        raise P2CError(f"{path}: no such file")
    if kind in PICKLES:
        return _unpickle(path, trusted=trust.pickle)
    _refuse_disguise(path)
    if kind == ".skops":
        return _open_skops(path, trust.types)
    if kind == ".onnx":
        return open_onnx(path, frame)
    return OWN_FILES[kind](path) if kind in OWN_FILES else path


def try_model(path: Path, frame: pd.DataFrame, trust: Trust | None = None) -> None:
    """Refuse a file by which its library ends, or does not end; what else is wrong with it, opening it tells."""
    if path.suffix.lower() in (*PICKLES, *RULES, ".csv") or not path.is_file():
        return
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_ask_once, args=(path, frame.head(TRIED), trust), daemon=True)
    process.start()
    process.join(SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
    if process.exitcode is None or process.exitcode < 0:
        raise P2CError(
            f"{path}: torn or modified: the library that wrote such files dies of it, or never answers"
        )


def _ask_once(path: Path, frame: pd.DataFrame, trust: Trust | None) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    with suppress(Exception):
        model = load_model(path, frame, trust)
        open_model(model, frame, desired=list(model.classes_)[-1]).answer(frame)


def _refuse_disguise(path: Path) -> None:
    """Refuse a pickle whose name says that it is none, by its first bytes, bare or compressed as joblib does it."""
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except OSError as error:
        raise P2CError(f"{path}: cannot be read: {error.strerror}") from None
    bare = start[:1] == b"\x80" and start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    if bare or any(start.startswith(mark) for mark in COMPRESSED):
        raise P2CError(
            f"{path}: a pickle, or something compressed, whatever its name says: it stays closed"
        )


def _unpickle(path: Path, *, trusted: bool) -> Any:
    if not trusted:
        raise P2CError(
            f"{path}: a pickle can run any code as it is opened, so it stays closed; if you know who"
            " made it, add --trust pickle (in Python trust='pickle'), else ask for the model as .skops or .onnx"
        )
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:
        # What is inside decides what can go wrong: a missing package, another version, a torn file.
        raise P2CError(f"{path}: cannot be unpickled: {_reason(error)}") from None


def _open_skops(path: Path, trusted: Collection[str]) -> Any:
    try:
        from skops import io
    except ImportError as error:
        raise MissingExtra("skops", extra="skops") from error
    try:
        unknown = untrusted_types(path, trusted)
        if not unknown:
            model = io.load(path, trusted=[*trusted, *CHECKED, *HARMLESS])
            check_trees(model)
            if PARTIAL in trusted or not binds_other_function(model):
                return model
            unknown = [PARTIAL]
    except P2CError as error:
        raise P2CError(f"{path}: {error}") from None
    except Exception as error:
        # Files that are no skops file fail in as many ways as there are files.
        raise P2CError(f"{path}: cannot be read as a skops file: {_reason(error)}") from None
    flags = " ".join(f"--trust {name}" for name in unknown)
    raise P2CError(
        f"{path}: holds types that are not known to be safe: {', '.join(unknown)};"
        f" if you trust them, add {flags} (in Python trust={unknown})"
    )


def untrusted_types(path: Path, trusted: Collection[str] = ()) -> list[str]:
    """Return the types in a skops file that nobody vouches for."""
    from skops import io

    return sorted({*io.get_untrusted_types(file=path)} - {*trusted, *CHECKED, *HARMLESS})


def of_booster(model: Any) -> Any:
    """Wrap a bare booster or a result of statsmodels as a classifier."""
    kind = type(model)
    library = kind.__module__.partition(".")[0]
    if library == "statsmodels":
        from p2c._learn.model.readers.statsmodels_linear import of_statsmodels

        return of_statsmodels(model)
    if kind.__name__ != "Booster" or library not in ("xgboost", "lightgbm"):
        return model
    if library == "xgboost":
        return _xgboost_classifier(model.save_raw("ubj"), "model")
    from p2c._learn.model.readers.lightgbm_trees import LightGBMFile

    try:
        return LightGBMFile(model)
    except P2CError as error:
        raise P2CError(f"model: {error}") from None


def _open_xgboost(path: Path) -> Any:
    # A name that ends as MLflow has it says nothing to XGBoost; what is inside does.
    given = bytearray(path.read_bytes()) if path.suffix == ".xgb" else path
    return _xgboost_classifier(given, str(path))


def _xgboost_classifier(given: bytearray | Path, place: str) -> Any:
    try:
        from xgboost import XGBClassifier
    except ImportError as error:
        raise MissingExtra("xgboost", extra="xgboost") from error
    model = XGBClassifier()
    try:
        model.load_model(given)
        model.classes_  # noqa: B018 - a model that is no classifier has none, and says so here
        objective = json.loads(model.get_booster().save_config())["learner"]["objective"]["name"]
    except Exception as error:
        raise P2CError(f"{place}: no classifier of XGBoost: {_reason(error)}") from None
    if (
        objective.startswith(("reg:", "count:", "rank:", "survival:"))
        and objective != "reg:logistic"
    ):
        raise P2CError(f"{place}: {numbers_alone(objective)}")
    return model


def _open_lightgbm(path: Path) -> Any:
    try:
        from lightgbm import Booster

        from p2c._learn.model.readers.lightgbm_trees import LightGBMFile
    except ImportError as error:
        raise MissingExtra("lightgbm", extra="lightgbm") from error
    try:
        return LightGBMFile(Booster(model_file=str(path)))
    except P2CError as error:
        raise P2CError(f"{path}: {error}") from None
    except Exception as error:
        raise P2CError(f"{path}: no model of LightGBM: {_reason(error)}") from None


def _open_catboost(path: Path) -> Any:
    try:
        from catboost import CatBoostClassifier
    except ImportError as error:
        raise MissingExtra("catboost", extra="catboost") from error
    try:
        with path.open("rb") as file:
            kind = "json" if file.read(1) == b"{" else "cbm"
        model = CatBoostClassifier().load_model(str(path), format=kind)
    except Exception as error:
        raise P2CError(f"{path}: no model of CatBoost: {_reason(error)}") from None
    if not len(model.classes_):
        raise P2CError(f"{path}: {numbers_alone(model.get_all_params()['loss_function'])}")
    return model


def is_mlflow_folder(model: Any) -> bool:
    """Tell whether something is the path of a folder that MLflow wrote."""
    return isinstance(model, str | Path) and _is_file(Path(model) / DESCRIPTION)


def is_stored(model: Any) -> bool:
    """Tell whether something is the path of a stored model, not of rules."""
    if not isinstance(model, str | Path) or is_mlflow_folder(model):
        return isinstance(model, str | Path)
    kind = Path(model).suffix.lower()
    return kind in KNOWN and kind not in RULES and _is_file(Path(model))


def _is_file(path: Path) -> bool:
    """Tell whether a file is there; rules given as text are longer than any name may be."""
    try:
        return path.is_file()
    except OSError:
        return False


def model_file(path: Path) -> Path:
    """Return the file of a stored model: what an MLflow folder names, any other path as it is."""
    if not is_mlflow_folder(path):
        return path
    description = path / DESCRIPTION
    flavours = _flavours(description)
    known = [name for name in FLAVOURS if name in flavours]
    if not known:
        found = ", ".join(map(str, flavours)) or "none"
        raise P2CError(
            f"{description}: expected one of the flavours {', '.join(FLAVOURS)}, found {found}"
        )
    name = flavours[known[0]].get(FLAVOURS[known[0]])
    file = path / str(name)
    inside = path.resolve() in file.resolve().parents
    if not isinstance(name, str) or not inside or not file.is_file():
        raise P2CError(
            f"{description}: flavors.{known[0]}.{FLAVOURS[known[0]]}: expected a file of the folder, found {name!r}"
        )
    return file


def _flavours(description: Path) -> dict[str, dict[str, Any]]:
    try:
        import yaml
    except ImportError as error:
        raise MissingExtra("pyyaml", extra="mlflow") from error
    try:
        told = yaml.safe_load(description.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise P2CError(f"{description}: not YAML: {one_line(error)}") from None
    flavours = told.get("flavors") if isinstance(told, dict) else None
    if not isinstance(flavours, dict) or not all(isinstance(e, dict) for e in flavours.values()):
        raise P2CError(f"{description}: expected a table of 'flavors', as MLflow writes it")
    return flavours


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {one_line(error)}"


OWN_FILES: dict[str, Callable[[Path], Any]] = {
    ".json": _open_xgboost,
    ".ubj": _open_xgboost,
    ".xgb": _open_xgboost,
    ".txt": _open_lightgbm,
    ".lgb": _open_lightgbm,
    ".cbm": _open_catboost,
    ".cb": _open_catboost,
    ".csv": load_points,
}
"""The formats of libraries of their own, by the end of the file's name; some ends are MLflow's."""
KNOWN = (*PICKLES, ".skops", ".onnx", *OWN_FILES, *RULES)
