"""Digests of all that a step's results depend on besides its input files, and the bundles that take part.

A rule gives digests as ``params``; Snakemake keeps the params of every output and makes it again when they
differ (docs/dev/pipeline.md). Times of change play no part.

All functions read and compute only, and only the standard library and light modules are imported: every start
of Snakemake does it while it parses.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from tessera.core.files import repo_root

#: How programs are started, errors read and files written: no byte of a finished result comes from here. A
#: name that ends with a dot is a package.
PLUMBING = (
    "tessera.machine.container.",
    "tessera.machine.doctor.",
    "tessera.machine.environment.",
    "tessera.machine.reserve.",
    "tessera.machine.limits",
    "tessera.machine.program_paths",
    "tessera.core.errors",
    "tessera.core.files",
    "tessera.core.processes",
    "tessera.core.terminal",
    "tessera.lab.study",  # reads words; what a study computes, its own imports say
)
#: Libraries whose version decides digits; who imports one depends on :data:`LOCK`.
NUMERIC = re.compile(r"^[ \t]*(?:import|from)[ \t]+(?:numpy|scipy|sklearn)\b", re.MULTILINE)
LOCK = "requirements.lock"

#: Folders of ``artifacts/`` that a component is built from, besides its own.
ALSO = {
    "mosalloc": ("common", "layout-format", "counters"),
    "imitation": ("common", "tracer/include", "tracer/lib"),
    "simulator": (
        "common",
        "tracer/include",
        "tracer/lib",
        "layout-format",
        "imitation/base",
        "imitation/driver/include",
        "imitation/driver/log",
    ),
    "tracer": ("common", "mosalloc/include", "workloads/common"),
    "workloads": ("common",),
}
#: For tests only; the last three are the examples of ``artifacts/layout-format``.
FOR_TESTS = ("tests", "fuzz", "accepted", "refused", "refused.csv")
#: Files elsewhere that a package reads.
READ = {"tessera.core.platforms": ("artifacts/simulator/src/base/platform_keys.def",)}
#: What decides compilers and their options.
BUILDER = "src/tessera/machine/container/build.py"

IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<base>[\w.]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#]+)"
    r"|import[ \t]+(?P<plain>[^\n#]+))",
    re.MULTILINE,
)
#: A module that is imported by its name, or a package whose modules are.
NAMED = re.compile(r"[\"'](tessera(?:\.\w+)+)")


@cache
def code(*modules: str, without: tuple[str, ...] = ()) -> str:
    """Digest of these modules and of every module of Tessera that they import, at whatever depth.

    Imports inside functions count, and modules named in strings. :data:`PLUMBING` does not, nor does
    ``without`` (names like those), nor do commands (``tessera.cli`` but for its ``pipeline``) unless a rule
    names them.
    """
    found = closure(modules, without)
    parts = [(name, _bytes_of(name)) for name in sorted(found)]
    if any(NUMERIC.search(_text(name)) for name in found):
        parts.append((LOCK, _file(repo_root() / LOCK)))
    return _digest(parts)


@cache
def content_digest(*paths: Path | str) -> str:
    """Digest of files, by name and bytes; a folder stands for all files in it.

    Names are those inside the checkout, so that a copy of it in another folder has the same digests. A file
    elsewhere has the name that was given, without the folders above it.
    """
    given = map(Path, paths)
    return _digest((_name(path, above.parent), _file(path)) for above in given for path in _files([above]))


@cache
def programs_digest(engine: str, *components: str) -> str:
    """Digest of what components are built from: sources, compilers and their options."""
    artifacts = repo_root() / "artifacts"
    folders = {name for component in components for name in (component, *ALSO.get(component, ()))}
    files = [
        p for p in _files(artifacts / name for name in sorted(folders)) if _decides(p.relative_to(artifacts))
    ]
    parts = [(_name(path, artifacts), _file(path)) for path in [*files, repo_root() / BUILDER]]
    folders_of_image = [repo_root() / "docker" / name for name in ("base", "toolchain")]
    image = content_digest(*folders_of_image) if engine != "none" else ""
    return _digest([*parts, ("engine", engine.encode()), ("image", image.encode())])


def closure(modules: Iterable[str], without: tuple[str, ...] = ()) -> set[str]:
    """Names of the modules, and of all that they import but plumbing and ``without``."""
    todo, found = list(modules), set()
    if unknown := [name for name in todo if name not in _modules()]:
        raise KeyError(f"no such module: {', '.join(unknown)}")
    while todo:
        name = todo.pop()
        for part in _with_packages(name) if not _left_out(name, (*PLUMBING, *without)) else ():
            if part not in found:
                found.add(part)
                todo += imports(part)
    return found


@cache
def imports(name: str) -> frozenset[str]:
    """Modules of Tessera that a module names: imported anywhere in it, or in a string."""
    text, known = _text(name), _modules()
    asked = set()
    for match in IMPORT.finditer(text):
        if match["base"]:
            names = re.sub(r"#[^\n]*", "", match["names"]).strip("() \n").split(",")
            asked |= {f"{match['base']}.{part.split()[0]}" for part in names if part.split()}
        else:
            asked |= {part.split()[0] for part in match["plain"].split(",") if part.split()}
    found = {module for target in asked if (module := _longest(target))}
    for named in map(_longest, NAMED.findall(text)):
        if named:
            found |= {named} | {module for module in known if module.startswith(f"{named}.")}
    return frozenset(found)


def _longest(target: str) -> str:
    """The module in a dotted name that may end with something inside it; empty if there is none."""
    while target and target not in _modules():
        target = target.rpartition(".")[0]
    return target


@cache
def _with_packages(name: str) -> list[str]:
    """A module and the packages that are imported with it; not `tessera` itself, which holds the version."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(2, len(parts) + 1)]


def _left_out(name: str, names: tuple[str, ...]) -> bool:
    return any(f"{name}." == one or name.startswith(one) for one in names)


@cache
def _modules() -> dict[str, Path]:
    source, found = repo_root() / "src", {}
    for path in (source / "tessera").rglob("*.py"):
        name = ".".join(path.relative_to(source).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    found.pop("tessera", None)
    return found


@cache
def _text(name: str) -> str:
    return _file(_modules()[name]).decode()


@cache
def _bytes_of(name: str) -> bytes:
    """A module's source; a package's with the data files in its folder and those of :data:`READ`."""
    path = _modules()[name]
    beside = [] if _only_words(_text(name)) else [path]
    if path.name == "__init__.py":
        beside += sorted(p for p in path.parent.iterdir() if p.is_file() and p.suffix not in (".py", ".pyc"))
    beside += [repo_root() / file for file in READ.get(name, ())]
    return b"".join(map(_file, beside))


def _only_words(text: str) -> bool:
    """Is the file nothing but a docstring? Packages say what is in them; that decides no digit."""
    text = text.strip()
    return text.startswith('"""') and text.endswith('"""') and text.count('"""') == 2


def _files(paths: Iterable[Path]) -> list[Path]:
    found = []
    for path in paths:
        found += sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    return [path for path in found if "__pycache__" not in path.parts]


def _name(path: Path, above: Path) -> str:
    """A file's name without the place of the checkout; ``above`` is the folder of a file elsewhere.

    A relative path is relative to the checkout, where Snakemake runs.
    """
    if not path.is_absolute():
        return path.as_posix()
    root = _root()
    return path.relative_to(root if path.is_relative_to(root) else above).as_posix()


@cache
def _root() -> Path:
    return repo_root()  # it asks the file system


def _decides(path: Path) -> bool:
    return path.suffix != ".md" and not set(FOR_TESTS).intersection(path.parts)


@cache
def _file(path: Path | str) -> bytes:
    path = Path(path)
    return path.read_bytes() if path.is_file() else b"absent"


def _digest(parts: Iterable[tuple[str, bytes]]) -> str:
    whole = hashlib.sha256()
    for name, data in parts:
        whole.update(f"{name}\0{_hash(data)}\n".encode())
    return whole.hexdigest()[:16]


@cache
def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# Which bundles take part in a run: those of the checkout, and those that ``./run reproduce --bundle`` names.

BUNDLES_VARIABLE = "TESSERA_BUNDLES"  #: a path a line
BUNDLES_FOLDER = "bundles"


def bundle_sources(root: Path = Path(), environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Paths of the bundles, each once: the folders of ``bundles/`` by name, then the named ones in order."""
    added = sorted(p for p in (root / BUNDLES_FOLDER).glob("*") if p.is_dir() and not p.name.startswith("."))
    named = [Path(line) for line in environment.get(BUNDLES_VARIABLE, "").splitlines() if line]
    return list(dict.fromkeys([*added, *named]))
