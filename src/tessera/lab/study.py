"""One way to run a study: words KEY=VALUE go in, a function runs, tables come out (docs/explain/studies.md).

A study is one file with a function that :func:`study` decorates, and a line of :mod:`tessera.lab.catalogue`.
The parameters of the function are its keys, in ``tessera lab run NAME KEY=VALUE`` and in its section of a
configuration alike; their annotations say how a text becomes a value. The section ``Args:`` of its docstring
explains them. Example::

    @study(SHAPES, VARIANTS, failed={"variant": BASELINE})
    def ablations(run: Run, trace: Recording, manifest: Path, platform: Platform, only: Names = ()):
        '''Switch off one mechanism at a time.

        Args:
            only: names of ablations; none: all.
        '''
        return shapes, cells
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import check_target
from tessera.core.platforms import Platform
from tessera.core.results.outcomes import FAILED, TRACE_NAME, is_ok, note_of, read_recording
from tessera.core.results.schema import Table
from tessera.core.results.table_io import empty_table, frame_of, write_table
from tessera.core.tables import frame_rows, print_table
from tessera.record import traces
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import FULL, Plan, parse_sampling

# What annotations mean.


FILE_SUFFIXES = (".csv", ".json", ".parquet", ".tst", ".txt", ".yaml")


@dataclass
class Run:
    """Where a study writes, and whom it tells.

    Attributes:
        out: folder of its tables; or the CSV file of its first table, whose folder has the others.
        say: takes lines of progress, also those of the simulator.
        wrong: what checks of the study found wrong, a line each; with one, the exit status is 1.
    """

    out: Path
    say: Callable[[str], None] = lambda line: None
    wrong: list[str] = field(default_factory=list)

    @property
    def names_file(self) -> bool:
        """Whether ``out`` names a file: by its suffix, also before it is there."""
        return self.out.suffix in FILE_SUFFIXES and not self.out.is_dir()

    @property
    def folder(self) -> Path:
        return self.out.parent if self.names_file else self.out

    def file(self, name: str) -> Path:
        """``out`` if it names a file, else the file of this name in the folder."""
        return self.out if self.names_file else self.out / name


class Recording:
    """A trace (``.tst``), or the info.json of a recording or window, which may have failed."""

    def __init__(self, path: Path):
        self.path = Path(path)
        if self.info is None:
            traces.trace_info(self.path)

    @cached_property
    def info(self) -> dict | None:
        """Content of info.json; None if a trace is given."""
        if self.path.suffix != ".json":
            return None
        info, _ = read_recording(self.path)
        if not isinstance(info, dict) or not {"workload", "status"} <= set(info):
            found = "it has no workload and no status, so it is not the info.json of a recording"
            remedy = "name a trace.tst, or the info.json beside one"
            raise TesseraError(f"recording {self.path}", found, remedy)
        return info

    @property
    def workload(self) -> str:
        """From info.json, else the file's or the folder's name."""
        if self.info is not None:
            return self.info["workload"]
        path = self.path.absolute()
        return path.parent.name if path.name == TRACE_NAME else path.stem

    @property
    def trace(self) -> Path:
        """Raises: TesseraError: its recording failed."""
        if self.info is None:
            return self.path
        if not is_ok(self.info):
            why = str(self.info.get("message", ""))
            raise TesseraError(f"trace of {self.workload}", "recording failed", why)
        return read_recording(self.path)[1]

    @property
    def note(self) -> str:
        """What the trace lacks of its program; empty if nothing."""
        return note_of(self.info if self.info is not None else traces.trace_info(self.path))


@dataclass(frozen=True)
class Inputs:
    """What a study simulates, and how.

    Attributes:
        files: layouts, mappings or logs.
        cache: finished simulations.
        jobs: simulations at the same time.
        say: takes progress.
    """

    workload: str
    trace: Path
    platform: Platform
    files: Sequence[Path]
    cache: CellCache
    sampling: Plan = FULL
    jobs: int = 1
    say: Callable[[str], None] = lambda line: None

    @property
    def pair(self) -> dict[str, str]:
        """The columns that all rows share."""
        return {"workload": self.workload, "platform": self.platform.name}

    @property
    def options(self) -> dict[str, Any]:
        """Of :func:`tessera.simulate.runner.simulate_all` with the engine ``timing``."""
        return {
            "workload": self.workload, "engine": "timing", "sampling": self.sampling, "cache": self.cache,
            "progress": self.say, "threads": self.jobs,
        }  # fmt: skip


@dataclass(frozen=True)
class Bounds:
    """In ``Annotated[int, Bounds(least=1)]``: the values that a number may have, both ends included."""

    least: float | None = None
    most: float | None = None

    def __call__(self, value: float) -> float:
        too_small = self.least is not None and value < self.least
        if too_small or (self.most is not None and value > self.most):
            raise ValueError(f"it must be {self}")
        return value

    def __str__(self) -> str:
        ends = [f"at least {self.least}" if self.least is not None else ""]
        ends.append(f"at most {self.most}" if self.most is not None else "")
        return " and ".join(filter(None, ends))


class Repeated:
    """In ``Annotated[tuple[str, ...], Repeated]``: a key that may be repeated; its values may have commas."""


Names = tuple[str, ...]  #: comma-separated
Texts = Annotated[tuple[str, ...], Repeated]  #: a key that may be repeated
Paths = Annotated[tuple[Path, ...], Repeated]
Count = Annotated[int, Bounds(1)]
Jobs = Annotated[int, Bounds(1)]  #: simulations at the same time; they change no result
Seed = Annotated[int, Bounds(0)]
Engine = Literal["timing", "partial", "reference"]  #: of the simulator; partial has no runtimes
Amount = Literal["full", "quick"]  #: quick takes seconds, and only shows that every part works
NewFile = NewType("NewFile", Path)  #: a file to write, which is no table


def _yes_or_no(text: str) -> bool:
    answers = {"yes": True, "true": True, "no": False, "false": False}
    if text.lower() not in answers:
        raise ValueError("it must be yes or no")
    return answers[text.lower()]


def _number(kind: type, text: str) -> float:
    try:
        return kind(text)
    except ValueError:
        raise ValueError("this is no whole number" if kind is int else "this is no number") from None


def _existing(text: str) -> Path:
    path = Path(text)
    if not path.exists():
        raise ValueError("no such file or folder")
    return path


def _platform(text: str) -> Platform:
    """A platform, by its name or file; after it may be values that differ: ``haswell-sim core.mshrs=5``.

    Its name in the tables then lists them, too.
    """
    name, changes = re.fullmatch(r"(.*?)((?: [\w.-]+=\S+)*)", text).groups()
    loaded = platforms.load_platform(name)
    if not changes:
        return loaded
    made = platforms.set_values(loaded, platforms.parse_changes(changes.split(), "platform="), "platform=")
    return replace(made, name=loaded.name + changes)


def _split(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


#: annotation -> (what stands for a value in help, how a text is read)
_KINDS: dict[Any, tuple[str, Callable[[str], Any]]] = {
    str: ("TEXT", str),
    int: ("N", lambda text: _number(int, text)),
    float: ("NUMBER", lambda text: _number(float, text)),
    bool: ("yes|no", _yes_or_no),
    Path: ("PATH", _existing),
    NewFile: ("FILE", lambda text: NewFile(check_target(Path(text)))),
    Platform: ("PLATFORM", _platform),
    Recording: ("TRACE", lambda text: Recording(_existing(text))),
    Plan: ("PLAN", parse_sampling),
    CellCache: ("FOLDER", lambda text: CellCache(Path(text))),
}


@dataclass(frozen=True)
class Parameter:
    """A key of a study: a parameter of its function."""

    name: str
    annotation: Any
    default: Any = inspect.Parameter.empty
    about: str = ""

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty and self.plain is not CellCache

    @property
    def _given(self) -> Any:
        """The annotation without ``| None``."""
        if get_origin(self.annotation) not in (Union, types.UnionType):
            return self.annotation
        return reduce(or_, (one for one in get_args(self.annotation) if one is not type(None)))

    @property
    def plain(self) -> Any:
        """The annotation without ``| None`` and ``Annotated``."""
        return get_args(self._given)[0] if get_origin(self._given) is Annotated else self._given

    @property
    def marks(self) -> tuple:
        """What ``Annotated`` adds: :class:`Bounds`, :class:`Repeated`, or functions that check the value."""
        return get_args(self._given)[1:] if get_origin(self._given) is Annotated else ()

    @property
    def repeated(self) -> bool:
        return Repeated in self.marks

    @property
    def stands_for(self) -> str:
        """What help prints after the ``=``."""
        if get_origin(self.plain) is Literal:
            return "|".join(get_args(self.plain))
        if get_origin(self.plain) is tuple:
            one = _KINDS[get_args(self.plain)[0]][0]
            return f"{one} (may be repeated)" if self.repeated else f"{one},..."
        return _KINDS[self.plain][0]

    def read(self, texts: Sequence[str]) -> Any:
        """The value of these texts: one, or all of a repeated key.

        Raises:
            ValueError, TesseraError: it is none.
        """
        if get_origin(self.plain) is tuple:
            one = _KINDS[get_args(self.plain)[0]][1]
            words = texts if self.repeated else [word for text in texts for word in _split(text)]
            value: Any = tuple(one(word) for word in words)
        elif get_origin(self.plain) is Literal:
            value = texts[0]
            if value not in get_args(self.plain):
                raise ValueError(f"use one of: {', '.join(get_args(self.plain))}")
        else:
            value = _KINDS[self.plain][1](texts[0])
        for mark in self.marks:
            if mark is not Repeated and callable(mark):
                mark(value)
        return value


# A study and its registration.


@dataclass(frozen=True)
class Study:
    """What :func:`study` makes of a function.

    Attributes:
        function: takes a :class:`Run` and its parameters; returns a table, or as many as ``tables``.
        tables: what it writes, in the order of what it returns. A function of a study without tables writes
            its files itself, and may return what ``show`` gets.
        failed: if it is not None, a :class:`TesseraError` of the function is a row of the first table, which
            has the workload, the platform and these columns; the other tables are empty.
        show: prints for people what the tables say; gets what the function returned.
    """

    function: Callable
    tables: tuple[Table, ...]
    failed: Mapping[str, str] | None
    show: Callable[..., None] | None

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """By name, without the first one, the :class:`Run`."""
        hints = get_type_hints(self.function, include_extras=True)
        about = arguments(inspect.getdoc(self.function) or "")
        taken = list(inspect.signature(self.function).parameters.values())[1:]
        return {p.name: Parameter(p.name, hints[p.name], p.default, about.get(p.name, "")) for p in taken}

    @property
    def text(self) -> str:
        """Its docstring without the sections for programmers."""
        doc = inspect.getdoc(self.function) or ""
        return re.split(r"\n(?:Args|Raises|Returns):\n", doc)[0].strip()


def study(
    *tables: Table,
    failed: Mapping[str, str] | None = None,
    show: Callable[..., None] | None = None,
) -> Callable[[Callable], Study]:
    """Make a study of a function; see :class:`Study`."""

    return lambda function: Study(function, tables, failed, show)


def printed(digits: int | None = None, without: Sequence[str] = ()) -> Callable[..., None]:
    """What ``show`` often is: print the last table, with so many decimals, without these columns."""

    def show(*tables: pd.DataFrame) -> None:
        print_table(**frame_rows(tables[-1].drop(columns=list(without)), digits, missing=""))

    return show


def arguments(doc: str) -> dict[str, str]:
    """parameter -> its text in the section ``Args:`` of a docstring, in one line."""
    section = re.search(r"\nArgs:\n((?:    .*\n?|\n)*)", doc + "\n")
    found: dict[str, str] = {}
    for line in section.group(1).splitlines() if section else ():
        if head := re.match(r"    (\w+): (.*)", line):
            found[last := head.group(1)] = head.group(2)
        elif found and line.strip():
            found[last] += " " + line.strip()
    return found


def load(catalogue: Mapping[str, Any], name: str, kind: str = "study") -> Study:
    """The study of a name of a catalogue (name -> entry with ``place``: ``module:function``).

    Raises:
        TesseraError: there is none; says the nearest name.
    """
    if name not in catalogue:
        near = difflib.get_close_matches(name, catalogue, 1)
        remedy = f"do you mean '{near[0]}'? " if near else ""
        command = "tessera lab list" if kind == "study" else "tessera dev step"
        raise TesseraError(f"{kind} '{name}'", f"no such {kind}", f"{remedy}{command} names all")
    module, _, function = catalogue[name].place.partition(":")
    return getattr(importlib.import_module(module), function)


def read_words(name: str, one: Study, words: Sequence[str], out: Path) -> dict[str, Any]:
    """Values of the parameters of words KEY=VALUE; the cache of simulations is beside ``out`` by default.

    Raises:
        TesseraError: no KEY=VALUE, an unknown key, a value that cannot be read, or a key that is missing.
    """
    texts: dict[str, list[str]] = {}
    keys = ", ".join(one.parameters)
    for word in words:
        key, equals, text = word.partition("=")
        if not equals:
            raise TesseraError(f"{name}: '{word}'", "this is not KEY=VALUE", f"the keys are: {keys}")
        if key not in one.parameters:
            near = difflib.get_close_matches(key, one.parameters, 1)
            remedy = f"do you mean {near[0]}=? " if near else ""
            raise TesseraError(f"{name}: {word}", f"there is no key '{key}'", f"{remedy}the keys are: {keys}")
        texts.setdefault(key, []).append(text)
    values = {}
    for key, given in texts.items():
        parameter = one.parameters[key]
        if len(given) > 1 and not parameter.repeated:
            raise TesseraError(f"{name}: {key}=", f"given {len(given)} times", "give it once")
        try:
            values[key] = parameter.read(given)
        except ValueError as error:
            wanted = f"write {key}={parameter.stands_for}"
            raise TesseraError(f"{name}: {key}={' '.join(given)}", str(error), wanted) from None
    if missing := [p for p in one.parameters.values() if p.required and p.name not in values]:
        lacks = ", ".join(f"{p.name}={p.stands_for}" for p in missing)
        raise TesseraError(
            name, f"it needs {lacks}", f"add {'it' if len(missing) == 1 else 'them'}; keys: {keys}"
        )
    folder = Run(out).folder
    for parameter in one.parameters.values():
        if parameter.plain is CellCache and parameter.name not in values:
            values[parameter.name] = CellCache(folder / ".cache")
    return values


def run_study(one: Study, run: Run, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Run a study and write its tables; returns them in the order of ``one.tables``, or what ``show`` gets.

    Raises:
        TesseraError: the study failed, and has no rows for failures.
    """
    try:
        found = one.function(run, **values)
    except TesseraError as error:
        if one.failed is None or not one.tables:
            raise
        found = _failure(one, values, error)
    if found is None:
        return ()
    tables = found if isinstance(found, tuple) else (found,)
    if not one.tables:
        return tables
    if len(tables) != len(one.tables):
        raise TypeError(f"{one.function.__name__}: {len(tables)} tables, declared: {len(one.tables)}")
    return tuple(
        write_table(table, frame, path)
        for table, frame, path in zip(one.tables, tables, paths_of(one, run), strict=True)
    )


def paths_of(one: Study, run: Run) -> list[Path]:
    """The file of each table; the first one may have the name that the user gave."""
    names = (f"{table.name}.csv" if "*" in table.file else table.file for table in one.tables)
    found = [run.folder / name for name in names]
    return [run.out, *found[1:]] if found and run.names_file else found


def _failure(one: Study, values: Mapping[str, Any], error: TesseraError) -> tuple[pd.DataFrame, ...]:
    first, *others = one.tables
    head: dict[str, str] = {}
    for value in values.values():
        if isinstance(value, Recording):
            head["workload"] = value.workload
        elif isinstance(value, Platform):
            head["platform"] = value.name
    head = {key: text for key, text in (head | dict(one.failed or {})).items() if key in first.names}
    row = head | {"status": FAILED, "message": error.one_line}
    return frame_of(first, [row]), *(empty_table(table) for table in others)
