"""Scenarios: the machine, its memory and the policies of its operating system (docs/reference/scenarios.md).

First the keys, then the YAML files of ``config/scenarios`` that set them; :func:`load_scenario` reads one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tessera.core.configuration_files import Document
from tessera.core.errors import TesseraError, unknown_name
from tessera.core.files import repo_root
from tessera.core.layouts.layout import ALIASES, PAGE_SIZE_OF
from tessera.core.mapping.kinds import ALL_KINDS

# The keys of a scenario: default, bounds or words, unit, source, meaning.
# docs/reference/codes.md prints this table.

LINUX = "Linux 6.12, mm/huge_memory.c and mm/khugepaged.c: the setting after a boot"


@dataclass(frozen=True)
class ScenarioKey:
    """One key; ``default`` None: every scenario has to give it.

    A number lies in ``least`` to ``most`` and is a multiple of ``multiple``. A word is one of ``words``. A
    switch is ``true`` or ``false``.
    """

    name: str
    default: int | str | bool | None
    unit: str
    source: str
    meaning: str
    least: int = 0
    most: int = 0
    words: tuple[str, ...] = ()
    multiple: int = 1

    @property
    def switch(self) -> bool:
        """Whether the values are ``true`` and ``false``."""
        return isinstance(self.default, bool)

    def rule(self) -> str:
        """What a value must be."""
        if self.switch:
            return "true or false"
        if self.words:
            return "one of " + ", ".join(self.words)
        step = f", a multiple of {self.multiple}" if self.multiple > 1 else ""
        return f"a whole number from {self.least} to {self.most}{step}"

    def schema(self) -> dict[str, object]:
        """The rule as a JSON Schema."""
        limits: dict[str, object] = {"type": "boolean"} if self.switch else {"enum": self.words}
        if not self.switch and not self.words:
            limits = {"minimum": self.least, "maximum": self.most, "multipleOf": self.multiple}
            limits["type"] = "integer"
        return limits | {"title": self.rule()}

    def text(self, value: int | str | bool) -> str:
        """As the program tessera-os reads it."""
        return str(int(value)) if self.switch else str(value)


def _entries(name: str, default: int, meaning: str) -> ScenarioKey:
    return ScenarioKey(name, default, "of 512 entries", LINUX, meaning, most=511)


def _thousandths(name: str, default: int, source: str, meaning: str) -> ScenarioKey:
    return ScenarioKey(name, default, "thousandths", source, meaning, most=1000)


OURS = "the scenario"
HERE = Path(__file__).resolve().parents[3]


def policies(checkout: Path) -> tuple[str, ...]:
    """The policies of a checkout: the lines of the imitation's ``vm/policies.def``.

    Without the imitation's sources, which a policy is one of, there is ``linux-6.12`` alone.
    """
    table = checkout / "artifacts" / "imitation" / "vm" / "policies.def"
    rows = table.read_text() if table.exists() else 'POLICY(linux_6_12, "linux-6.12")'
    return tuple(re.findall(r'^POLICY\(\w+, "([^"]+)"\)', rows, re.MULTILINE))


KEYS: tuple[ScenarioKey, ...] = (
    ScenarioKey(
        "memory_bytes", None, "bytes", OURS, "Memory of the machine, a multiple of 1MB",
        least=16 << 20, most=1 << 40, multiple=1 << 20,
    ),
    ScenarioKey("policy", "linux-6.12", "word", "artifacts/imitation", "Who decides", words=policies(HERE)),
    ScenarioKey(
        "fragmentation.index", "none", "word", OURS,
        "Index that is raised before the program begins, in each zone above DMA",
        words=("none", "extfrag-index", "unusable-index"),
    ),
    ScenarioKey("fragmentation.order", 9, "order", OURS, "Order of the index", least=1, most=10),
    _thousandths("fragmentation.target_thousandths", 500, OURS, "Value of the index"),
    _thousandths(
        "fragmentation.tolerance_thousandths", 5, "assumed: what the fragmenter reaches",
        "Largest difference to the target",
    ),
    _thousandths(
        "fragmentation.movable_share_thousandths", 0, "assumed: pinned frames stay",
        "Pinned frames that compaction could move",
    ),
    ScenarioKey("fragmentation.seed", 1, "number", OURS, "Chooses the pinned frames", most=(1 << 63) - 1),
    ScenarioKey(
        "thp.enabled", "always", "word", LINUX, "Areas that get pages of 2MB",
        words=("always", "madvise", "never"),
    ),
    ScenarioKey(
        "thp.defrag", "madvise", "word", LINUX, "Areas whose faults ask for compaction and reclaim",
        words=("always", "defer", "defer+madvise", "madvise", "never"),
    ),
    ScenarioKey("thp.use_zero_page", True, "switch", LINUX, "Loads of untouched 2MB get the huge zero page"),
    ScenarioKey(
        "thp.khugepaged.defrag", True, "switch", LINUX, "khugepaged may ask for compaction and reclaim"
    ),
    _entries("thp.khugepaged.max_ptes_none", 511, "Empty entries that khugepaged fills"),
    _entries("thp.khugepaged.max_ptes_swap", 64, "Swapped entries that it accepts"),
    _entries("thp.khugepaged.max_ptes_shared", 256, "Shared entries that it accepts"),
    ScenarioKey(
        "thp.khugepaged.pages_to_scan", 4096, "entries", LINUX, "Entries that a wake-up looks at",
        least=1, most=1 << 30,
    ),
    ScenarioKey(
        "thp.khugepaged.scan_sleep_milliseconds", 10000, "milliseconds", LINUX, "Time between two wake-ups",
        least=1, most=1 << 30,
    ),
    ScenarioKey(
        "swap.bytes", 0, "bytes", OURS, "Swap area, its header of 4KB included; 0: no swap",
        most=1 << 40, multiple=1 << 20,
    ),
    ScenarioKey(
        "swap.synchronous", False, "switch", "zram: SWP_SYNCHRONOUS_IO of mm/memory.c",
        "Swap is memory that answers at once: one page a fault, no disk",
    ),
    ScenarioKey(
        "swap.page_cluster", 3, "log2 of pages", "Linux 6.12, mm/swap.c swap_setup",
        "Pages that a swap fault reads at once, at most", most=5,
    ),
    ScenarioKey(
        "reclaim.swappiness", 60, "of 200", "Linux 6.12, mm/vmscan.c vm_swappiness",
        "Balance of anonymous pages and pages of files", most=200,
    ),
    ScenarioKey(
        "compaction.proactive", True, "switch", "Linux 6.12, mm/compaction.c: compaction_proactiveness 20",
        "kcompactd looks at fragmentation each half second",
    ),
    ScenarioKey(
        "page_cache.at_start", "none", "word", OURS,
        "files: those that the program maps are in memory before it begins", words=("none", "files"),
    ),
    ScenarioKey(
        "page_cache.other_bytes", 0, "bytes", OURS,
        "A file of somebody else, read once before the program begins", most=1 << 40,
    ),
    ScenarioKey(
        "hugetlb.pages_2mb", 0, "pages", OURS, "Pool of pages of 2MB for MAP_HUGETLB", most=1 << 19,
    ),
    ScenarioKey(
        "hugetlb.pages_1gb", 0, "pages", OURS, "Pool of pages of 1GB for MAP_HUGETLB", most=1 << 10,
    ),
    ScenarioKey(
        "slab.areas", False, "switch", "Linux 6.12, mm/slub.c and kernel/fork.c",
        "The kernel's objects of areas (VMAs) take frames",
    ),
    ScenarioKey(
        "disk.model", "constant", "word", "artifacts/imitation/disk",
        "Counts and times of what files and swap read and write; no decision depends on it",
        words=("constant", "flash"),
    ),
    ScenarioKey(
        "time.frequency_hz", 2_000_000_000, "Hz", "assumed: time is instructions / (frequency x IPC)",
        "Frequency of the processor", least=1000, most=10**12,
    ),
    ScenarioKey(
        "time.instructions_per_1000_cycles", 1000, "instructions", "assumed: an IPC of 1",
        "Instructions of the program in 1,000 cycles", least=1, most=100_000,
    ),
)  # fmt: skip

BY_NAME: dict[str, ScenarioKey] = {key.name: key for key in KEYS}

#: Parts of Linux that tessera lab os does not use; a scenario that asks for them is refused by name.
NOT_MODELLED = ("fork", "memory_cgroup", "numa", "shared_memory", "writeback")


# A scenario file: nested YAML whose leaves are the keys above.
#
# The name of a scenario is the stem of its file. It stands in the column ``layout`` of cells, so it is never
# the name of a layout or of a kind of mapping.

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
HELP = "docs/reference/codes.md lists the keys; tessera lab os list shows the scenarios"
SCENARIO_FILE = Document(
    "scenario file",
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["description", *(key.name for key in KEYS if key.default is None)],
        "properties": {"description": {"title": "a sentence", "type": "string", "pattern": r"\S"}}
        | {key.name: key.schema() for key in KEYS},
    },
    HELP,
    code="scenario",
)
#: Names that heuristics give their layouts (:mod:`tessera.core.layouts.generation`).
LAYOUT_NAME = re.compile(r"(growing|random)-\d+|sliding-\d+-\d+")


@dataclass(frozen=True)
class Scenario:
    """One scenario; ``values`` has every key, those that the file leaves out with their defaults."""

    name: str
    description: str
    values: dict[str, int | str | bool]

    def flat(self) -> str:
        """The ``key = value`` text that tessera-os reads."""
        lines = [f"{name} = {BY_NAME[name].text(value)}" for name, value in sorted(self.values.items())]
        return "\n".join([f"name = {self.name}", *lines]) + "\n"


def scenarios_folder() -> Path:
    """Where the named scenarios are."""
    return repo_root() / "config" / "scenarios"


def scenario_names() -> list[str]:
    """Names of the scenarios that come with Tessera."""
    return sorted(path.stem for path in scenarios_folder().glob("*.yaml"))


def load_scenario(name_or_path: str | Path) -> Scenario:
    """The scenario of this name, or of this YAML file.

    Raises:
        TesseraError: an unknown name, or a file that is not a scenario (names file, key, value and rule).
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        path = scenarios_folder() / f"{name_or_path}.yaml"
        if not path.exists():
            raise unknown_name("scenario", str(name_or_path), scenario_names())
    check_name(path.stem)
    return scenario_of_tree(replace(SCENARIO_FILE, schema=None).read(path), path)


def scenario_of_tree(tree: object, path: Path) -> Scenario:
    """The scenario in what a YAML file contains; ``path`` gives the name."""
    found: dict[str, Any] = {}
    for name, value in _leaves(tree) if isinstance(tree, dict) else ():
        asked = f"{SCENARIO_FILE.what} {path}, {name}"
        if name.split(".")[0] in NOT_MODELLED:
            wrong = f"tessera lab os does not model {', '.join(NOT_MODELLED)}"
            raise TesseraError(asked, wrong, "remove the key", code="scenario-not-modelled")
        if name in found:
            raise TesseraError(asked, "the key is given twice", "keep one of them", code="scenario-key")
        found[name] = value
    found = SCENARIO_FILE.check(found if isinstance(tree, dict) else tree, path)
    values: dict[str, Any] = {key.name: key.default for key in KEYS} | found
    return Scenario(path.stem, found["description"].strip(), {key.name: values[key.name] for key in KEYS})


def check_name(name: str) -> None:
    """Refuse a name that a layout or a mapping may have in the same column of a table.

    Raises:
        TesseraError: code ``scenario-name``.
    """
    found = ""
    if not NAME.fullmatch(name):
        found = "a name has lower-case letters, digits, dots, hyphens and underscores, at most 64"
    elif LAYOUT_NAME.fullmatch(name) or name in {*PAGE_SIZE_OF, *ALIASES}:
        found = "this is the name of a layout"
    elif all(part in ALL_KINDS for part in name.split("-over-")):
        found = "this is the name of a kind of mapping"
    if found:
        raise TesseraError(f"scenario '{name}'", found, "give the file another name", code="scenario-name")


def _leaves(tree: dict, above: str = "") -> Iterator[tuple[str, object]]:
    for word, value in tree.items():
        name = f"{above}{word}"
        if (
            isinstance(value, dict)
            and value
            and name not in BY_NAME
            and name.split(".")[0] not in NOT_MODELLED
        ):
            yield from _leaves(value, f"{name}.")
        else:
            yield name, value
