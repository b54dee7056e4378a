"""A model as MLflow stores it: a folder whose file `MLmodel` says which library wrote which file.

MLflow itself is not needed: the file of the library is opened as if it had been given by itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from p2c.errors import MissingExtra, P2CError, one_line

DESCRIPTION = "MLmodel"
FLAVOURS = {
    "sklearn": "pickled_model",
    "xgboost": "data",
    "lightgbm": "data",
    "catboost": "data",
    "onnx": "data",
}
"""The libraries whose models are opened, and where a description names the file."""


def is_mlflow_folder(model: Any) -> bool:
    """Tell whether something is the path of a folder that MLflow wrote."""
    return isinstance(model, str | Path) and (Path(model) / DESCRIPTION).is_file()


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
