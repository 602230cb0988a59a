"""A workload: a program and its named sizes, from ``config/workloads/<name>.yaml``.

A workload is a row of a published table (``rows``), a stand-in for one that cannot be shipped
(``stand_in_for``), or a program of the user's. Its ``kind`` says how it is run.
A size's pools hold everything that the program asks for, its verifier included. They are multiples of
2MB, so that a layout can cover them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.files import built, repo_root
from tessera.core.platforms import Platform
from tessera.core.units import PAGE_2MB, PAGE_4KB, format_bytes, parse_bytes

_KEYS = {"name", "executable", "description", "source", "sizes"}
_MORE_KEYS = {"kind", "rows", "stand_in_for", "threads"}
_SIZE_KEYS = {"args", "footprint", "heap_pool", "anon_pool"}
_COUNT_KEYS = ("windows", "region_accesses", "window_span")
_MORE_SIZE_KEYS = {"datasets", "touched", "prepared", "share", *_COUNT_KEYS}
_PREPARED_KEYS = {"file", "program", "args", "bytes", "memory"}
_FILE_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")

#: Stands in a size's arguments for the path of its prepared file.
PREPARED = "{prepared}"

#: Published tables that a row can belong to: MICRO'20 Table 5, OPERA D5.10 Table 4, Mitosis Table 1.
TABLES = ("micro20", "opera", "mitosis")


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
        rows: published row by table (:data:`TABLES`), such as ``{"micro20": "gups/8GB"}``.
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
    try:
        tree = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise TesseraError(f"workload file {path}", f"not YAML: {error}", "correct the file") from None
    _keys(path, tree, _KEYS, _MORE_KEYS, "the file")
    if tree["name"] != path.stem:
        raise _bad(path, f"name '{tree['name']}' differs from the file name '{path.stem}'")
    if not isinstance(tree["sizes"], dict) or not tree["sizes"]:
        raise _bad(path, "sizes must name at least one size")
    sizes = {str(label): _size(path, str(label), node) for label, node in tree["sizes"].items()}
    rows = tree.get("rows", {})
    if not isinstance(rows, dict) or not set(rows) <= set(TABLES):
        raise _bad(path, f"rows must map some of {', '.join(TABLES)} to a published name")
    words = {key: str(tree[key]) for key in ("kind", "stand_in_for", "threads") if key in tree}
    rows = {str(table): str(row) for table, row in rows.items()}
    return Workload(
        tree["name"], tree["executable"], tree["description"], tree["source"], sizes, rows=rows, **words
    )


def _size(path: Path, label: str, node: dict) -> Size:
    _keys(path, node, _SIZE_KEYS, _MORE_SIZE_KEYS, f"size {label}")
    args = node["args"]
    if not isinstance(args, list) or not all(isinstance(a, str) for a in args):
        raise _bad(path, f"size {label}: args must be a list of texts (quote numbers)")
    found = {key: parse_bytes(node[key], owner=f"{path}: {label}.{key}") for key in _SIZE_KEYS - {"args"}}
    for key in ("heap_pool", "anon_pool"):
        if found[key] == 0 or found[key] % PAGE_2MB:
            raise _bad(
                path, f"size {label}: {key} {format_bytes(found[key])} must be a positive multiple of 2MB"
            )
    if found["footprint"] > found["heap_pool"] + found["anon_pool"]:
        footprint, pools = format_bytes(found["footprint"]), found["heap_pool"] + found["anon_pool"]
        raise _bad(path, f"size {label}: footprint {footprint} exceeds the pools' {format_bytes(pools)}")
    datasets = node.get("datasets", [])
    if not isinstance(datasets, list) or not all(isinstance(name, str) for name in datasets):
        raise _bad(path, f"size {label}: datasets must be a list of names")
    if "touched" in node:
        found["touched"] = parse_bytes(node["touched"], owner=f"{path}: {label}.touched")
    share = node.get("share")
    if share is not None and not (isinstance(share, int | float) and 0 < share < 1):
        raise _bad(path, f"size {label}: share {share!r} must be a number between 0 and 1")
    prepared = _prepared(path, label, node["prepared"]) if "prepared" in node else None
    if (prepared is not None) != any(PREPARED in word for word in args):
        raise _bad(path, f"size {label}: {PREPARED} in args and the key prepared need each other")
    found |= _counts(path, label, node)
    return Size(label, tuple(args), **found, datasets=tuple(datasets), prepared=prepared, share=share)


def _prepared(path: Path, label: str, node: object) -> Prepared:
    where = f"size {label}: prepared"
    _keys(path, node, _PREPARED_KEYS, set(), where)
    args = node["args"]
    if not isinstance(args, list) or not all(isinstance(a, str) for a in args):
        raise _bad(path, f"{where}: args must be a list of texts (quote numbers)")
    if not _FILE_NAME.fullmatch(str(node["file"])):
        raise _bad(path, f"{where}: file '{node['file']}' must have small letters, digits, '.' and '-' only")
    sizes = {
        key: parse_bytes(node[key], owner=f"{path}: {label}.prepared.{key}") for key in ("bytes", "memory")
    }
    return Prepared(str(node["file"]), str(node["program"]), tuple(args), **sizes)


def _counts(path: Path, label: str, node: dict) -> dict[str, int]:
    counts = {key: node[key] for key in _COUNT_KEYS if key in node}
    for key, number in counts.items():
        if type(number) is not int or number < 1:
            raise _bad(path, f"size {label}: {key} {number!r} must be a whole number of at least 1")
    if counts.get("windows", 1) > 1 and not {"region_accesses", "window_span"} & set(counts):
        raise _bad(path, f"size {label}: windows {counts['windows']} needs region_accesses or window_span")
    if counts.get("window_span", 0) > counts.get("region_accesses", 1 << 62):
        raise _bad(path, f"size {label}: window_span exceeds region_accesses")
    return counts


def _keys(path: Path, node: object, wanted: set[str], allowed: set[str], where: str) -> None:
    if not isinstance(node, dict):
        raise _bad(path, f"{where} is not a mapping")
    if wrong := sorted(map(str, wanted - set(node) | set(node) - wanted - allowed)):
        raise _bad(path, f"{where}: missing or unknown {', '.join(wrong)}")


def _bad(path: Path, rule: str) -> TesseraError:
    return TesseraError(f"workload file {path}", rule, "correct the file; see docs/contracts.md, Workloads")


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
