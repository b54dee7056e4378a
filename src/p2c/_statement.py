"""The data of a problem: its keys, its model and the restrictions of one person.

It is read, written, bound and compiled here. Modules that open models are imported on first use, so that rules load quickly.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from p2c._plan.compiled.space import Space
from p2c._rules.bind import build_theory
from p2c._spec.files import file_digest, read_rows
from p2c._spec.overrides import OVERRIDES, as_keys, refuse_unknown
from p2c._spec.row import read_row
from p2c._spec.spec import (
    ProblemSpec,
    SourceSpec,
    Trust,
    load_spec,
    path_of,
    read_spec,
    refuse_bare_folder,
    unreadable,
)
from p2c._spec.toml import problem_to_toml
from p2c._whole_file import put_text
from p2c.errors import P2CError, check_flag, need_learning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    from p2c._blackbox.answers import ConfirmedPlanner
    from p2c._blackbox.decider import Decider
    from p2c._folder.store import OpenedFolder
    from p2c._from_data import Provenance
    from p2c._learn.extract.logic import Extraction
    from p2c._learn.model import NotRead, Read
    from p2c._learn.tables.look import Assumption
    from p2c._plan.restriction import Restriction
    from p2c._rules.theory import Classifier, Theory
    from p2c._spec.overrides import Overrides
    from p2c._spec.row import State


MOST_VARIANTS = 1_000
"""Number of variants of a problem that are kept."""


@dataclass(frozen=True, repr=False)
class Statement:
    """The data of a `Problem`: features, rules, a goal and the model that decides."""

    spec: ProblemSpec
    source: str = ""
    restrictions: tuple[tuple[str, Restriction], ...] = ()
    """The restrictions of one person, by feature."""
    replaced: frozenset[str] = frozenset()
    """The keys that a question has replaced."""
    model: Classifier | None = field(default=None, compare=False, repr=False)
    """The classifier behind `accepted(X)`; None where rules decide."""
    decider: Decider | None = field(default=None, compare=False, repr=False)
    """The open model that verifies plans; None where rules decide."""
    bounded: bool = True
    """Whether rows lie within the ranges; false for a problem made from data."""
    provenance: Provenance | None = field(default=None, compare=False, repr=False)
    """The data that the problem was made from, where it was made from data."""
    home: str = ""
    """The file or folder of a problem with a model; empty without one."""
    unrestricted: Self | None = field(default=None, compare=False, repr=False)
    """The problem without the restrictions, compiled once for all people."""

    @classmethod
    def load(cls, path: str | Path, *, trust: Trust | str | Iterable[str] | None = None) -> Self:
        """Read a problem from a file, or from a folder with a model.

        Args:
            path: A TOML file, a JSON file of the same shape, or a folder as `save` and `p2c fit` write it.
            trust: Parts of a stored model that may run code when it is opened: "pickle", or names of types in a skops file;
                none by default.

        Returns:
            The problem. Every fault of the file is reported now, by line and column, not at the first use.

        >>> import p2c
        >>> loan = p2c.Problem.example("loan")
        >>> p2c.Problem.load(loan.save("loan.toml"))
        <Problem 'loan': 5 features, 3 rules, goal: not reject_loan(X)>
        """
        trusted = Trust.of(trust)
        file = path_of(path, kind="file or folder", hint="; from_dict reads a dict")
        if file.is_dir():
            refuse_bare_folder(file)
            need_learning()
            from p2c._folder import open_folder

            return cls.of_folder(open_folder(file, trusted), file)
        problem = cls(load_spec(file), str(path))
        if problem.spec.model is not None:
            need_learning()
            from p2c._blackbox.opening import open_decider

            spec, decider = open_decider(problem.spec, file.parent, trust=trusted)
            home = str(file.resolve())
            problem = replace(problem, spec=spec, model=decider.judge, decider=decider, home=home)
        return problem._checked()

    @classmethod
    def outline(cls, path: str | Path) -> Self:
        """Read a problem without its model: enough to describe it, not to plan.

        Args:
            path: What `load` takes. The files of a folder must be what they were.
        """
        file = path_of(path)
        whole = file.is_dir()
        if whole:
            refuse_bare_folder(file)
            need_learning()
            from p2c._folder import outline_folder

            spec, file = outline_folder(file)
        else:
            spec = load_spec(file)
        if spec.model is None:
            return cls.load(path)
        need_learning()
        from p2c._blackbox.opening import UnopenedModel, open_model_of

        if not whole:
            spec = open_model_of(spec, file.parent).spec
        model: Any = UnopenedModel(tuple(spec.features))
        home = str(Path(path).resolve())
        return cls(spec, str(file), model=model, bounded=not whole, home=home)._checked()

    @classmethod
    def of_folder(cls, opened: OpenedFolder, path: Path) -> Self:
        """Return the problem of a folder that is open."""
        from p2c._folder.store import Fitted
        from p2c._from_data import Provenance
        from p2c._learn.extract.logic import Extraction
        from p2c._learn.tables.look import as_edited

        decider, manifest = opened.decider, opened.manifest
        threshold = opened.spec.model.threshold if opened.spec.model else None
        fitted = Fitted(None, opened.rows, threshold, path / manifest.model.file)
        entry = manifest.extraction
        extracted = None if entry is None else (lambda: Extraction.from_dict(entry))
        made = cls(
            opened.spec,
            str(path / "problem.toml"),
            model=decider.judge,
            decider=decider,
            bounded=False,
            home=str(path.resolve()),
        )._checked()
        columns = {each.feature: str(each.name) for each in decider.source.view.columns}
        actions = {columns[each.name]: each.action.value for each in made.theory.features}
        assumed = as_edited(manifest.assumptions, actions)
        return replace(made, provenance=Provenance(fitted, extracted, None, assumed))

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, Any],
        *,
        model: Classifier | None = None,
        decider: Decider | None = None,
        bounded: bool = True,
    ) -> Self:
        """Read a problem from a dict of the shape that a file has.

        Args:
            data: The keys of the problem: `goal`, `rules`, `features`, and those that have defaults.
            model: What decides `accepted(X)`, where the goal or a rule asks it.
            decider: A model that is open already, by which plans are confirmed.
            bounded: Whether numbers of rows lie within the ranges of the features; not where these come from data.

        >>> import p2c
        >>> ages = {"age": {"type": "int", "min": 0, "max": 120}}
        >>> adult = p2c.Problem.from_dict({"goal": "age(X,N), N>=18", "rules": "", "features": ages})
        >>> adult.plan({"age": 16}).counterfactual
        {'age': 18}
        """
        spec = read_spec(data)
        if spec.model is not None and model is None and decider is None:
            need_learning()
            from p2c._blackbox.opening import open_decider

            spec, decider = open_decider(spec, Path())
        judge = decider.judge if decider is not None else model
        return cls(spec, model=judge, decider=decider, bounded=bounded)._checked()

    @classmethod
    def example(cls, name: str = "loan") -> Self:
        """Return an embedded problem: "loan", "cars", "adult" or "german".

        `p2c.datasets.rows(name)` has people for it.

        >>> import p2c
        >>> p2c.Problem.example("german")
        <Problem 'german': 7 features, 5 rules, goal: label(X,'good')>
        """
        from p2c import datasets

        return cls.from_dict(tomllib.loads(datasets.problem_text(name)))

    def _checked(self) -> Self:
        """Return the problem itself; its faults are reported now, not at the first use.

        The time limit of a question holds because a parsed model is prepared now.
        """
        self.theory  # noqa: B018
        if self.decider is not None and not (self.replaced or self.restrictions):
            from p2c._blackbox.opening import refuse_unanswered

            refuse_unanswered(self.theory.features, self.decider)
            self.decider.warm()
        return self

    @property
    def name(self) -> str:
        """Return the problem's name."""
        return self.spec.name

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as a dict that `from_dict` reads, without default keys.

        >>> import p2c
        >>> loan = p2c.Problem.example("loan")
        >>> loan.to_dict()["goal"]
        'not reject_loan(X)'
        >>> p2c.Problem.from_dict(loan.to_dict()) == loan
        True
        """
        return self.spec.to_dict()

    @property
    def reading(self) -> Read | NotRead | None:
        """Return the parsed form of the model, or why there is none."""
        return self.decider.reading if self.decider else None

    @property
    def extraction(self) -> Extraction | None:
        """Return the surrogate rules with their agreement; None where there are none."""
        extracted = self.provenance and self.provenance.extracted
        return extracted() if extracted else None

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Return the action of each column of the data, and why it was assumed."""
        return self.provenance.assumptions if self.provenance else ()

    def save(
        self,
        path: str | Path,
        *,
        pickle: bool = False,
        replace: bool = False,
    ) -> Path:
        """Write the problem as a file, or with its model as a folder.

        A folder holds `problem.toml` to read and edit, the model in its own safe format, rows that trial values come
        from, and a manifest of hashes.

        Args:
            path: Where to write: a TOML file, a JSON file where the name ends in .json, or a new folder where a model
                decides. An existing file is replaced. Comments of a file that was loaded are not kept.
            pickle: Whether a model without a safe format is kept as a pickle, which can run any code when it is opened.
            replace: Whether a folder that was saved before is replaced; other files in it stay, and an edited one is
                kept as `problem.toml.before`.

        Returns:
            The path.

        >>> import p2c
        >>> loan = p2c.Problem.example("loan")
        >>> print(loan.save("loan.json"))
        loan.json
        """
        check_flag("pickle", pickle)
        check_flag("replace", replace)
        if self.restrictions:
            raise P2CError(
                "a problem with one person's restrictions is not saved: save the problem without them"
            )
        path = path_of(path, kind="file or folder")
        fitted = self.provenance and self.provenance.fitted
        remarks = self.provenance.remarks() if self.provenance else {}
        if fitted and self.decider and not str(path).endswith((".toml", ".json")):
            from p2c._folder.store import save_folder

            extraction = self.extraction
            save_folder(
                path,
                {key: value for key, value in self.to_dict().items() if key != "model"},
                fitted,
                self.decider,
                extraction=None if extraction is None else asdict(extraction),
                assumptions=self.assumptions,
                remarks=remarks,
                pickle=pickle,
                replace_old=replace,
            )
            return path
        file = path
        kept = self.spec.model and (file.parent / self.spec.model.file).is_file()
        if self.model is not None and not kept:
            raise P2CError(
                f"{file}: the model is not beside it; save the problem as a folder, such as '{file.stem}', which keeps both"
            )
        as_json = file.suffix == ".json"
        text = (
            json.dumps(self.to_dict(), indent=2)
            if as_json
            else problem_to_toml(self.to_dict(), remarks)
        )
        try:
            put_text(file, text)
        except (OSError, ValueError) as error:
            raise P2CError(f"{file}: cannot be written: {unreadable(error)}") from None
        return file

    @property
    def model_place(self) -> Path:
        """Return the folder of the problem, or the model's file beside a problem file."""
        home, model = Path(self.home), self.spec.model
        return home if model is None or home.is_dir() else home.parent / model.file

    @property
    def model_digest(self) -> str:
        """Return the SHA-256 of the stored model; empty if it was never stored."""
        if not self.home or self.spec.model is None:
            return ""
        from p2c._folder.manifest import fingerprint

        home = Path(self.home)
        file = (home if home.is_dir() else home.parent) / self.spec.model.file
        return file_digest(file) if file.is_file() else fingerprint(self.model_place)

    def to_message(self) -> dict[str, Any]:
        """Return the message from which another process makes the same problem."""
        keys = self.to_dict()
        if not self.home:
            return keys if self.bounded else keys | {"bounded": False}
        from p2c._folder.manifest import fingerprint

        return keys | {"home": self.home, "fingerprint": fingerprint(self.model_place)}

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> Self:
        """Return the problem of a message; its model is opened, but no pickle."""
        keys = dict(message)
        home, bounded = keys.pop("home", ""), keys.pop("bounded", True)
        expected = keys.pop("fingerprint", "")
        if not home:
            return cls.from_dict(keys, bounded=bounded)
        from p2c._folder.manifest import fingerprint

        problem = cls.load(home)
        if fingerprint(problem.model_place) != expected:
            raise P2CError(f"{home}: the model was changed meanwhile: ask again")
        return replace(problem, spec=read_spec(keys), source="")

    def __reduce__(self) -> tuple[Any, ...]:
        # Travels between processes as text, and is compiled once where it arrives.
        return _recalled, (type(self), json.dumps(self.to_message()), self.restrictions)

    @cached_property
    def theory(self) -> Theory:
        """Return the rules bound to the features."""
        if self.unrestricted is not None:
            from p2c._plan.restriction import restrict

            return restrict(self.unrestricted.compiled, dict(self.restrictions))
        theory = build_theory(self.spec, source=self.source, model=self.model, bounded=self.bounded)
        if self.decider is not None and not self.decider.is_read and self.decider.learned:
            # Reasons are those of the surrogate rules, and every answer says so.
            theory = replace(theory, source=SourceSpec.model_validate(dict(self.decider.learned)))
        return theory

    @cached_property
    def compiled(self) -> Space:
        """Return the problem compiled for search, built in steps at first use.

        The time of the first use counts in its time limit.
        """
        if self.unrestricted is None:
            return Space(self.theory)
        return self.unrestricted.compiled.with_features(self.theory.features)

    @cached_property
    def _variants(self) -> dict[tuple[tuple[str, str], ...], Self]:
        return {}

    def with_keys(self, **overrides: Unpack[Overrides]) -> Self:
        """Return the problem with other keys; the same object for the same keys.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> loan.with_keys(norm="l0").plan(john).cost
        2.0
        """
        if not overrides:
            return self
        if self.unrestricted is not None:
            return self.unrestricted.with_keys(**overrides).restricted(dict(self.restrictions))
        refuse_unknown(overrides, OVERRIDES)
        marks = tuple(sorted((key, str(value)) for key, value in overrides.items()))
        variant = self._variants.get(marks)
        if variant is None:
            spec = read_spec({**self.to_dict(), **as_keys(self.spec, overrides)})
            replaced = self.replaced.union(overrides)
            changed = replace(self, spec=spec, source="", replaced=replaced)
            if len(self._variants) >= MOST_VARIANTS:
                self._variants.clear()
            variant = self._variants[marks] = changed._checked()
        return variant

    def with_relations(self, relations: Mapping[str, Mapping[str, Any]]) -> Self:
        """Return the problem with relations that are not reviewed yet.

        Args:
            relations: The keys of each relation by id: `text`, `features`, `rows` and `holds`.

        >>> import p2c
        >>> suggested = {"text": ":- debt(X,A), bank_balance(X,B), A > B.", "features": ["debt", "bank_balance"]}
        >>> list(p2c.Problem.example("loan").with_relations({"debt-1": suggested}).to_dict()["relations"])
        ['debt-1']
        """
        keys = {**self.to_dict().get("relations", {}), **relations}
        read = read_spec({**self.to_dict(), "relations": keys}).relations
        return replace(self, spec=self.spec.model_copy(update={"relations": read}))

    def restricted(self, restrictions: Mapping[str, Restriction | Mapping[str, Any] | str]) -> Self:
        """Return the problem with the restrictions of one person, by feature.

        A restriction is an action, such as "fixed", or a mapping with any of `action`, `min`, `max`, `only` (names that a
        change may end in), `weight` and `lift` (restrictions of the problem to do without: "moves", "limits").

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> loan.restricted({"bank_balance": {"max": 50000}, "debt": "fixed"}).plan(john).status
        'infeasible'
        >>> loan.restricted({"debt": {"weight": 9}}).plan(john).cost
        0.04502
        """
        from p2c._plan.restriction import read_restrictions

        read = read_restrictions(restrictions)
        if not read:
            return self
        if self.decider is not None:
            view = self.decider.source.view
            read = {view.feature(name): each for name, each in read.items()}
        together = tuple((dict(self.restrictions) | read).items())
        base = self.unrestricted or self
        return replace(base, restrictions=together, unrestricted=base)._checked()

    @cached_property
    def question(self) -> dict[str, Any]:
        """Return the keys and restrictions that a question adds, without the norm."""
        keys = self.spec.model_dump(mode="json", include=set(self.replaced - {"norm"}))
        if "limits" in self.replaced:
            limits = {name: each.limit for name, each in self.spec.resources.items()}
            keys["limits"] = {name: each for name, each in limits.items() if each is not None}
        own = {
            name: each.model_dump(mode="json", exclude_none=True)
            for name, each in self.restrictions
        }
        return keys | ({"restrict": own} if own else {})

    def read_row(self, row: Mapping[str, Any]) -> State:
        """Return the state of a person from a mapping or a pandas Series.

        Each value is checked against its domain and gets the type of its feature.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> loan.read_row({**john, "debt": 5000.0, "credit_score": None})
        {'age': 31, 'debt': 5000, 'loan_duration': 12, 'bank_balance': 40000, 'credit_score': None}
        """
        return read_row(self.theory.features, self._by_feature(row))

    def read_rows(self, path: str | Path) -> list[State]:
        """Return the people that a JSON, JSON lines or CSV file holds.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> import json, pathlib
        >>> _ = pathlib.Path("john.json").write_text(json.dumps(john))
        >>> loan.read_rows("john.json") == [john]
        True
        """
        return read_rows(self.theory.features, path, by_feature=self._by_feature)

    @cached_property
    def columns(self) -> dict[str, str]:
        """Return the column of each feature in the data, where their names differ."""
        if self.spec.model is not None:
            return dict(self.spec.model.columns)
        return dict(self.provenance.columns) if self.provenance else {}

    def by_features(self, frame: Any) -> Any:
        """Return a table with columns named by features, unless an open model decides."""
        if self.decider is not None or not self.columns:
            return frame
        import narwhals as nw

        table = nw.from_native(frame)
        present = set(table.columns)
        names = {column: name for name, column in self.columns.items() if column in present}
        return nw.to_native(table.rename(names))

    def _names_of(self, frame: Any) -> dict[str, str]:
        """Return the feature that each column of a table holds."""
        if self.decider is not None:
            return {str(each.name): each.feature for each in self.decider.source.view.features}
        features = {column: name for name, column in self.columns.items()}
        names = (str(each) for each in getattr(frame, "columns", ()))
        return {
            each: features.get(each, each)
            for each in names
            if features.get(each, each) in self.spec.features
        }

    def _by_feature(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a row by feature that may be given by columns of the model."""
        if self.decider is not None:
            return self.decider.row(row)
        found = {name: row[column] for name, column in self.columns.items() if column in row}
        return {**row, **found} if found else row

    @property
    def is_asked(self) -> bool:
        """Tell whether a black-box model decides."""
        return self.decider is not None and not self.decider.is_read

    @cached_property
    def surrogate(self) -> Self | None:
        """Return the problem with surrogate rules in the place of the model; None without."""
        if self.unrestricted is not None:
            base = self.unrestricted.surrogate
            return base and base.restricted(dict(self.restrictions))
        if self.decider is None or not self.decider.stand_in:
            return None
        rules = f"{(self.spec.rules or '').rstrip()}\n{self.decider.stand_in}".lstrip()
        keys = {key: value for key, value in self.to_dict().items() if key != "model"}
        if self.decider.learned:
            keys["source"] = dict(self.decider.learned)
        return self.from_dict({**keys, "rules": rules}, bounded=self.bounded)

    @property
    def worded(self) -> Theory:
        """Return the theory of reasons: the parsed model's, else the surrogate rules'."""
        return self.surrogate.theory if self.is_asked and self.surrogate else self.theory

    @cached_property
    def planner(self) -> ConfirmedPlanner:
        """Return the planner with the model that decides."""
        from p2c._blackbox.answers import ConfirmedPlanner

        assert self.decider is not None, "a model decides"
        return ConfirmedPlanner(
            self.decider,
            self.theory,
            space=lambda: self.compiled,
            guide=lambda: self.surrogate.compiled if self.surrogate else None,
        )

    def renewed(self) -> Self:
        """Return a copy without cached results; the model stays open."""
        if self.unrestricted is not None:
            return self.unrestricted.renewed().restricted(dict(self.restrictions))
        if self.decider is None:
            return replace(self)
        decider = replace(self.decider)
        return replace(self, decider=decider, model=decider.judge)

    def prepare(self) -> None:
        """Compile the problem before the first question."""
        searched = self.surrogate if self.is_asked else self
        if searched is not None:
            searched.compiled.axes  # noqa: B018 - the first use pays for it
        if self.decider is not None:
            self.decider.warm()


def _recalled(kind: Any, text: str, restrictions: tuple[tuple[str, Restriction], ...]) -> Statement:
    problem: Statement = _sent(kind, text).restricted(dict(restrictions))
    return problem


@lru_cache(maxsize=8)
def _sent(kind: Any, text: str) -> Any:
    return kind.from_message(json.loads(text))
