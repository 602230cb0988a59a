"""All studies: the name, the place of the function, and what it answers. ``tessera lab list`` prints them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A study of ``tessera lab run``, or a step of ``tessera dev step``.

    Attributes:
        place: ``module:function``; the module is imported when the study runs.
        about: one line for the list.
    """

    place: str
    about: str

    @property
    def module(self) -> str:
        return self.place.partition(":")[0]


#: heading -> name -> study
GROUPS: dict[str, dict[str, Entry]] = {
    "The simulator": {
        "sampling": Entry(
            "tessera.lab.studies.sampling:sampling",
            "Compare sampling methods with the full simulation of a window.",
        ),
        "ablations": Entry(
            "tessera.lab.studies.ablations:ablations",
            "Switch off one mechanism at a time; report slope and curvature of runtime over walk cycles.",
        ),
        "sweep": Entry(
            "tessera.lab.studies.sweep:sweep",
            "Vary each assumed value of a platform; report which conclusions still hold.",
        ),
        "window": Entry("tessera.lab.studies.windows:window", "Cut a window out of the middle of a trace."),
        "walk-cost": Entry(
            "tessera.lab.walk_cost:walk_cost",
            "Compare the verdicts of two runs: walks that cost 0 and 22 cycles before their first load.",
        ),
    },
    "Designs": {
        "designs": Entry(
            "tessera.lab.studies.designs:designs",
            "Compare translation designs under mappings of pages to frames.",
        ),
        "probes": Entry(
            "tessera.lab.studies.probes:probes",
            "Probe the index cache and the synonym filter of Park, KAIST 2019, with random accesses.",
        ),
    },
    "Operating systems and page faults": {
        "recording": Entry(
            "tessera.lab.studies.scenario_recording:recording",
            "Record a workload from its first instruction, with its calls to memory management.",
        ),
        "scenarios": Entry(
            "tessera.lab.studies.scenarios:scenarios",
            "Show what an imitation of Linux does to a program in several states of a machine's memory.",
        ),
        "virtuoso": Entry(
            "tessera.lab.faults.virtuoso:virtuoso",
            "Simulate a program with the kernel work of its page faults: parts of its runtime.",
        ),
        "virtuoso-costs": Entry(
            "tessera.lab.faults.virtuoso:costs",
            "Measure time and memory of the simulator with and without the kernel work of page faults.",
        ),
        "virtuoso-judge": Entry(
            "tessera.lab.faults.virtuoso:judge",
            "Compare simulated programs with numbers that Virtuoso (ASPLOS 2025) prints.",
        ),
        "fault-templates": Entry(
            "tessera.lab.faults.weave:templates",
            "Write the file of templates of recorded page faults that `tessera-sim run --weave` reads.",
        ),
        "oracle-compare": Entry(
            "tessera.lab.oracle.comparisons:compare",
            "Replay a recording of Linux 6.12 in the imitation; compare their decisions.",
        ),
    },
    "New designs": {
        "transfer": Entry(
            "tessera.lab.transfer.study:transfer",
            "Ask models of a processor for the runtime of new designs, and compare with the timing engine.",
        ),
        "transfer-verdicts": Entry(
            "tessera.lab.transfer.study:transfer_verdicts",
            "Judge models of a processor in each class of new designs, from tables of transfer.",
        ),
    },
    "Validation": {
        "engines": Entry(
            "tessera.lab.validation.engines:engines",
            "Compare the engines, and an LRU in Python, on random traces, layouts and platforms.",
        ),
        "closed-forms": Entry(
            "tessera.lab.validation.closed_forms:closed_forms", "Compare simulated counts with formulas."
        ),
        "invariants": Entry(
            "tessera.lab.validation.invariants:invariants",
            "Check the rules that every simulated cell of a run must satisfy.",
        ),
        "known-recordings": Entry(
            "tessera.lab.validation.recordings:recordings",
            "Compare the recordings of a run with the known ones of config/known-recordings.csv.",
        ),
        "chase": Entry("tessera.lab.chase.measured:chase", "Measure pointer chases on this machine."),
        "explain-chase": Entry(
            "tessera.lab.chase.explain:explain_chase",
            "Find the steps of measured chases; calibrate this machine's platform file.",
        ),
        "clock-measure": Entry(
            "tessera.lab.clock.measured:clock_measure",
            "Measure micro-benchmarks and programs on this machine's clock.",
        ),
        "clock": Entry(
            "tessera.lab.clock.simulated:clock",
            "Compare micro-benchmarks and programs on this machine's clock with the simulated core.",
        ),
        "mosaics": Entry(
            "tessera.lab.validation.mosaics:mosaics",
            "Compare simulated differences between layouts with real runs.",
        ),
    },
    "Threads and energy": {
        "energy": Entry(
            "tessera.lab.energy.cell_energy:energy",
            "Compute the energy of cells from power constants, and what mosaics save.",
        ),
        "threads-sweep": Entry(
            "tessera.lab.energy.l3_sweep:threads_sweep",
            "Simulate a trace with L3 / n for each number of threads; fit its locality.",
        ),
        "threads-fit": Entry(
            "tessera.lab.energy.power:threads_fit",
            "Fit power constants to runs of `tessera lab threads measure`.",
        ),
    },
    "NUMA and page tables": {
        "numa-placements": Entry(
            "tessera.lab.numa.placement_study:placements_of_gups",
            "Simulate HPCC's updates under the placements of Mitosis Table 2: walk cycles and runtime.",
        ),
        "numa-program": Entry(
            "tessera.lab.numa.program_study:placements_of_program",
            "Simulate a recorded program under these placements, on a scaled machine.",
        ),
        "numa-gups": Entry(
            "tessera.lab.numa.gups:gups",
            "Write a trace of HPCC's random updates of a table that this machine has no memory for.",
        ),
        "numa-judge": Entry(
            "tessera.lab.numa.mitosis_figures:judge",
            "Compare simulated programs with the archived bars of Mitosis Figures 6 and 10.",
        ),
        "numa-bars": Entry(
            "tessera.lab.numa.archive:bars",
            "Compute the bars of Mitosis Figures 6, 9, 10 and 11 from archived cycles.",
        ),
        "numa-arithmetic": Entry(
            "tessera.lab.numa.arithmetic:arithmetic_study",
            "Check the archived numbers of Mitosis against algebra.",
        ),
        "numa-defects": Entry(
            "tessera.lab.numa.defects:defects_study",
            "List suspicious places of the archive of Mitosis, with the rule that found each.",
        ),
        "numa-maps": Entry(
            "tessera.lab.numa.guest_map_study:maps",
            "Map a program's pages and page tables in a guest under each rule; compare with the rule's map.",
        ),
        "numa-fragmented": Entry(
            "tessera.lab.numa.fragmented_memory:fragmented",
            "Count the 2MB pages of a program in a guest with fragmented memory (Mitosis Figure 11).",
        ),
    },
    "The kernel": {
        "kernel-test": Entry(
            "tessera.lab.kernel.patch_tests:selftests_and_stress",
            "Run selftests and stress tests of page-table replicas in the guest.",
        ),
        "kernel-prove": Entry(
            "tessera.lab.kernel.mutants:prove",
            "Leave out hooks of the kernel, one at a time; test that the checks notice each.",
        ),
        "kernel-lives": Entry(
            "tessera.lab.kernel.lives:lives",
            "Run random lives of page tables without and with replicas; compare contents, entries and bits.",
        ),
        "kernel-debug": Entry(
            "tessera.lab.kernel.debug_kernels:debug_kernel",
            "Run selftests and stress in a kernel that looks for misused locks and memory, or races.",
        ),
        "kernel-bisect": Entry(
            "tessera.lab.kernel.patch_tests:bisect",
            "Build and boot the kernel after every patch of the series.",
        ),
        "kernel-selftests-mm": Entry(
            "tessera.lab.kernel.third_party_tests:selftests_mm",
            "Run the kernel's selftests of memory management without and with replicas.",
        ),
        "kernel-stress-ng": Entry(
            "tessera.lab.kernel.third_party_tests:stress_ng",
            "Run the memory stressors of stress-ng with replicas on all nodes.",
        ),
        "kernel-table4": Entry(
            "tessera.lab.kernel.cost_experiments:table4_study",
            "Compute and measure the memory of replicas (Mitosis Table 4).",
        ),
        "kernel-table5": Entry(
            "tessera.lab.kernel.cost_experiments:table5_study",
            "Count instructions of mmap, mprotect and munmap without and with replicas (Mitosis Table 5).",
        ),
        "kernel-table6": Entry(
            "tessera.lab.kernel.cost_experiments:table6_study",
            "Count instructions of whole programs without and with replicas (Mitosis Table 6).",
        ),
        "kernel-costs": Entry(
            "tessera.lab.kernel.update_costs:costs_study",
            "Count what replicas cost an update of an entry and a request; check the books of their memory.",
        ),
        "kernel-placement": Entry(
            "tessera.lab.kernel.placement_experiments:placement",
            "Record the sockets of page tables under first touch and interleave (Mitosis Figures 3 and 4).",
        ),
        "kernel-balancing": Entry(
            "tessera.lab.kernel.placement_experiments:balancing",
            "Move a process to another socket; record its data and page tables before and after.",
        ),
    },
}
STUDIES = {name: entry for group in GROUPS.values() for name, entry in group.items()}

#: Keys of a section of the configuration that choose jobs; all others are keys of the study.
CHOOSE_JOBS = {"workload", "workloads", "platform", "platforms", "window_accesses", "windows", "programs"}


def words(section: Mapping[str, Any], **more: Any) -> str:
    """Words KEY=VALUE of a section of the configuration and of ``more``, quoted for a shell.

    A list of names is comma-separated; of other texts (with a comma or ``=``, as plans) each repeats the key.
    None gives no word.
    """
    found = []
    for key, value in (section | more).items():
        if value is None or (key in CHOOSE_JOBS and key not in more):
            continue
        items = list(value) if isinstance(value, list | tuple) else [value]
        texts = [("no", "yes")[item] if isinstance(item, bool) else str(item) for item in items]
        names = not any("," in text or "=" in text for text in texts)
        for text in [",".join(texts)] if names else texts:
            found.append(f"{key}={shlex.quote(text)}")
    return " ".join(found)


def repeated(key: str, values: Iterable[Any]) -> str:
    """Words of a key that may be repeated, quoted for a shell."""
    return " ".join(f"{key}={shlex.quote(str(value))}" for value in values)
