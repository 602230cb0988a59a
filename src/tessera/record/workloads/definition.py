"""A workload: a program and its named sizes, from ``config/workloads/<name>.yaml``.

A workload is a row of a published table (``rows``), a stand-in for one that cannot be shipped
(``stand_in_for``), or a program of the user's. Its ``kind`` says how it is run.
A size's pools hold everything that the program asks for, its verifier included. They are multiples of
2MB, so that a layout can cover them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.configuration_files import Document
from tessera.core.errors import TesseraError, unknown_name
from tessera.core.files import built, repo_root
from tessera.core.platforms import Platform
from tessera.core.units import PAGE_2MB, PAGE_4KB, format_bytes, parse_bytes

WORKLOAD_FILE = Document(
    "workload file", "workload", "correct the file; workflow/schemas/workload.schema.json describes its keys"
)

#: Stands in a size's arguments for the path of its prepared file.
PREPARED = "{prepared}"


@dataclass(frozen=True)
class Prepared:
    """A file of flat arrays that a program builds once, natively, and that recorded programs load.

    Rows share a file by its name; :func:`tessera.record.workloads.prepared.of` refuses two files of one name.
    """

    file: str
    program: str  #: builds it with ``args --prepare FILE``
    args: tuple[str, ...]
    bytes: int  #: on disk
    memory: int  #: while it is built


@dataclass(frozen=True)
class Size:
    """One named input: arguments of the program and what it needs (bytes)."""

    label: str
    args: tuple[str, ...]
    footprint: int  #: data that is alive in the region of interest
    heap_pool: int
    anon_pool: int
    datasets: tuple[str, ...] = ()  #: names in ``datasets/manifest.csv`` that the program reads
    touched: int | None = None  #: memory that a recorded run touches; None for all of both pools
    prepared: Prepared | None = None  #: what ``{prepared}`` in ``args`` stands for
    share: float | None = None  #: footprint / published footprint, where it is smaller on purpose
    windows: int = 1  #: parts of the region that a recording has, if the region is longer than the limit
    region_accesses: int | None = (
        None  #: of the whole region, as ``tessera trace record --count`` prints them
    )
    window_span: int | None = None  #: windows lie in so many first accesses; None for the whole region


@dataclass(frozen=True)
class Workload:
    """A benchmark program with its sizes.

    Attributes:
        executable: the program's name (what it means is the kind's affair).
        kind: how it is run, a key of :data:`tessera.record.workloads.kinds.KINDS`.
        rows: published row by table, such as ``{"micro20": "gups/8GB"}``.
        stand_in_for: the licensed or unavailable program that this one takes the place of; empty if none.
        threads: how its threads differ from the paper's, in words; empty if they don't.
    """

    name: str
    executable: str
    description: str
    source: str
    sizes: dict[str, Size]
    kind: str = "kernel"
    rows: dict[str, str] = field(default_factory=dict)
    stand_in_for: str = ""
    threads: str = ""

    def size(self, label: str) -> Size:
        """The size of this label; an unknown one is an error that lists the valid ones."""
        if label not in self.sizes:
            raise unknown_name(f"size of {self.name}", label, list(self.sizes))
        return self.sizes[label]

    def command(self, label: str) -> list[str]:
        """Argument list of this size; an error with the build command if the program isn't built."""
        chosen = self.size(label)
        return [str(built("workloads", self.executable)), *chosen.args]


def workloads_folder() -> Path:
    """Where the workload files are."""
    return repo_root() / "config" / "workloads"


def workload_names() -> list[str]:
    """Names of all workloads."""
    return sorted(path.stem for path in workloads_folder().glob("*.yaml"))


def load_workload(name: str) -> Workload:
    """The workload of this name.

    Raises:
        TesseraError: unknown name (with the valid ones), or a file that breaks the contract.
    """
    path = workloads_folder() / f"{name}.yaml"
    if name not in workload_names():
        raise unknown_name("workload", name, workload_names())
    return read_workload(path)


def read_workload(path: Path) -> Workload:
    """Read and validate one workload file."""
    tree = WORKLOAD_FILE.read(path)
    if tree["name"] != path.stem:
        raise _bad(path, "name", f"name '{tree['name']}' differs from the file name '{path.stem}'")
    sizes = {label: _size(path, label, node) for label, node in tree.pop("sizes").items()}
    return Workload(**tree, sizes=sizes)


def _size(path: Path, label: str, node: dict) -> Size:
    where = f"sizes/{label}"
    node |= _bytes(path, where, node, ("footprint", "heap_pool", "anon_pool", "touched"))
    for key in ("heap_pool", "anon_pool"):
        if node[key] == 0 or node[key] % PAGE_2MB:
            raise _bad(
                path, f"{where}/{key}", f"{format_bytes(node[key])} must be a positive multiple of 2MB"
            )
    if node["footprint"] > (pools := node["heap_pool"] + node["anon_pool"]):
        found = f"footprint {format_bytes(node['footprint'])} exceeds the pools' {format_bytes(pools)}"
        raise _bad(path, where, found)
    if ("prepared" in node) != any(PREPARED in word for word in node["args"]):
        raise _bad(path, where, f"{PREPARED} in args and the key prepared need each other")
    if node.get("windows", 1) > 1 and not {"region_accesses", "window_span"} & set(node):
        raise _bad(path, where, f"windows {node['windows']} needs region_accesses or window_span")
    if node.get("window_span", 0) > node.get("region_accesses", math.inf):
        raise _bad(path, where, "window_span exceeds region_accesses")
    if "prepared" in node:
        prepared = node["prepared"]
        prepared |= _bytes(path, f"{where}/prepared", prepared, ("bytes", "memory"))
        node["prepared"] = Prepared(**prepared | {"args": tuple(prepared["args"])})
    lists = {key: tuple(node[key]) for key in ("args", "datasets") if key in node}
    return Size(label, **node | lists)


def _bytes(path: Path, where: str, node: dict, keys: tuple[str, ...]) -> dict[str, int]:
    owner = f"{WORKLOAD_FILE.what} {path}, {where}"
    return {key: parse_bytes(node[key], owner=f"{owner}/{key}") for key in keys if key in node}


def _bad(path: Path, where: str, rule: str) -> TesseraError:
    return TesseraError(f"{WORKLOAD_FILE.what} {path}, {where}", rule, WORKLOAD_FILE.remedy)


# Is a workload large for a platform? Two ratios that say which regime of the paper a size is in.
#
# Above 1, a random access misses the TLB (first ratio) and a page walk misses the L3 (second ratio): 64 MB
# of leaf page-table entries at 32 GB do not fit a 15 MB L3, 2 MB of them at 1 GB do.

LEAF_ENTRY_BYTES = 8  #: one page-table entry per 4KB page


@dataclass(frozen=True)
class Regime:
    """Ratios of a workload's footprint to what a platform's hardware covers."""

    footprint_per_4kb_reach: float  #: / bytes that the STLB covers with 4KB pages
    footprint_per_2mb_reach: float  #: / bytes that the TLB covers with 2MB pages
    leaf_entries_per_l3: float  #: bytes of leaf page-table entries / bytes of L3


def regime(workload: Workload, label: str, platform: Platform) -> Regime:
    """The ratios of one size on one platform."""
    footprint = workload.size(label).footprint
    shared = _number(platform, "tlb.stlb.holds_2mb")
    entries_2mb = _number(platform, "tlb.stlb.entries" if shared else "tlb.l1d.2mb.entries")
    return Regime(
        footprint / (_number(platform, "tlb.stlb.entries") * PAGE_4KB),
        footprint / (entries_2mb * PAGE_2MB),
        footprint / PAGE_4KB * LEAF_ENTRY_BYTES / _number(platform, "cache.l3.bytes"),
    )


def _number(platform: Platform, key: str) -> int:
    if key not in platform.values:
        raise TesseraError(
            f"regime on platform {platform.name}", f"it has no {key}", "complete the platform file"
        )
    return int(platform.values[key].value)
