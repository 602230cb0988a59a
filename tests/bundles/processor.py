"""A processor of arithmetic, and bundles that it would give: counts obey the identities by construction.

Nothing here uses the simulator or the code that computes cells. Memory is W windows of 2MB; a layout puts
some of them on huge pages. Misses fall with the share on huge pages, walk cycles follow misses, and R is a
base plus a share of the cycles with a walk.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tessera.core.layouts.layout import Layout, Window
from tessera.machine.counters.event import GENERIC, Cpu, cpu_rules
from tessera.machine.counters.event_table import CounterClass, counter_classes, everywhere, of_cpu
from tessera.machine.counters.passes import CounterSharing, counter_passes
from tessera.machine.environment import RunFacts, run_conditions
from tessera.machine.environment.condition import Condition
from tessera.machine.environment.preparation import RULES
from tessera.measure.bundles import bundle as model
from tessera.measure.bundles import csv_files, file_format, head_checks, writer
from tessera.measure.bundles.reader import parse_bundle
from tessera.measure.bundles.writer import sealed_files

MB2, GB1 = 2 << 20, 1 << 30
POOL = 2 * GB1
WINDOWS = POOL // MB2
SOFTWARE = {"u": ("R time", "page faults"),
            "uk": ("R time", "page faults", "context switches", "migrations")}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """What a bundle is about; ``optional``: names of passes beyond H, M and C."""

    class_name: str = "broadwell"
    mode: str = "uk"
    workloads: tuple[str, ...] = ("gups-16gb",)
    rounds: int = 5
    rehearsal: bool = False
    optional: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    noise: float = 0.002
    machine_id: str = "0123456789abcdef" * 2
    layouts: tuple[str, ...] = (
        "growing-0", "growing-4", "growing-8", "random-0", "random-1", "sliding-20-0", "1gb",
    )  # fmt: skip


def draw(rng: random.Random) -> Plan:
    """A plan of any class that counts M."""
    return Plan(
        class_name=rng.choice(list(counter_classes())),
        mode=rng.choice(("u", "uk")),
        workloads=tuple(rng.sample(("gups-16gb", "chase", "graph500-2gb", "redis"), rng.randint(1, 2))),
        rounds=rng.randint(1, 4),
        rehearsal=rng.random() < 0.3,
        optional=tuple(name for name in ("by-size", "code", "caches") if rng.random() < 0.3),
        failing=("random-1",) if rng.random() < 0.2 else (),
        noise=rng.choice((0.0, 0.002)),
        machine_id=f"{rng.getrandbits(128):032x}",
    )


def processor(found: CounterClass, rng: random.Random) -> Cpu:
    """A processor of the class: a model that it names, or one of the rest of its family."""
    options = []
    for rule in cpu_rules(found.cpuid):
        for number in sorted(rule.models) if rule.models is not None else range(0x100):
            stepping = min(rule.steppings) if rule.steppings else 1
            cpu = Cpu(rule.vendor, rule.family, number, stepping)
            if found.name in {one.name for one in of_cpu(cpu)}:
                options.append(cpu)
    return rng.choice(options)


@dataclass
class Counted:
    """What the processor did in one run: quantity -> count, and its clock."""

    counts: dict[str, int]
    roi_ns: int
    enabled_ns: int = field(init=False)

    def __post_init__(self):
        self.enabled_ns = self.counts["R time"]


def windows(layout: str, number: int) -> tuple[Window, ...]:
    """The windows of a layout; random-1 has those of random-0."""
    if layout == "1gb":
        return (Window("mmap", 0, POOL, GB1),)
    start, end = {
        "growing-0": (0, 0),
        "growing-4": (0, WINDOWS // 2),
        "growing-8": (0, WINDOWS),
        "random-0": (100 + number, 300),
        "random-1": (100 + number, 300),
        "sliding-20-0": (50, 70 + number),
    }[layout]
    return (Window("mmap", start * MB2, end * MB2, MB2),) if end > start else ()


def run(found: CounterClass, layout: Layout, seed: str, noise: float, scale: int) -> Counted:
    """Counts of one run. ``scale``: accesses in millions."""
    rng = random.Random(seed)

    def around(value: float) -> int:
        return max(0, round(value * (1 + rng.uniform(-noise, noise))))

    huge = sum(w.end - w.start for w in layout.windows) / POOL
    gigantic = any(w.page_bytes == GB1 for w in layout.windows)
    accesses = scale * 1_000_000
    instructions = 6 * accesses + rng.randrange(100)
    small, large = accesses * 0.6 * (1 - huge), accesses * (0.001 if gigantic else 0.05) * huge
    counts: dict[str, int] = {"instructions": instructions}
    walks = {}
    for side, share in (("loads", 0.8), ("stores", 0.2)):
        sizes = {"4KB": around(small * share), "2MB": 0, "1GB": 0}
        sizes["1GB" if gigantic else "2MB"] = around(large * share)
        walks[side] = sizes
        hits = {"4KB": around(small * share / 3), "2MB": 0 if gigantic else around(large * share / 3)}
        hits["1GB"] = around(large * share / 3) if gigantic else 0
        for symbol, split in (("M", sizes), ("H", hits)):
            counts[f"{symbol} {side}"] = sum(split.values())
            counts |= {f"{symbol} {side} {size}": value for size, value in split.items()}
        active = around(sum(sizes.values()) * 31)
        overlap = 1 + 0.4 * ((found.walkers or 1) - 1)
        counts[f"C active {side}"] = active
        counts[f"C {side}"] = round(active * overlap)
    both = [q for q in counts if " loads" in q]
    counts |= {q.replace("loads", "any"): counts[q] + counts[q.replace("loads", "stores")] for q in both}
    counts["C active"] = counts["C active any"]
    cycles = around(accesses * 3 + 1.2 * counts["C active any"])
    counts["R cycles"] = cycles
    counts["R reference cycles"] = round(cycles / 1.25)
    counts["R time"] = round(cycles / 3.0)
    counts |= {"page faults": 0, "context switches": rng.randrange(3), "migrations": 0}
    rest = random.Random(seed + "rest")
    for event in found.events:
        counts.setdefault(event.quantity, rest.randrange(1, accesses))
    return Counted(counts, roi_ns=counts["R time"] + rng.randrange(1000, 3000))


def machine(plan: Plan, cpu: Cpu) -> model.MeasuredMachine:
    return model.MeasuredMachine(
        vendor=cpu.vendor, family=cpu.family, model=cpu.model, stepping=cpu.stepping, microcode="0xb000040",
        cpuid=((4, 0, 0x1C004121, 0x1C0003F, 0x3F, 0), (4, 3, 0x1C03C163, 0x4C0003F, 0x6FFF, 4)),
        sockets=2, cores=28, threads=28, memory_bytes=135_000_000_000, kernel="6.1.0-18-amd64",
        mitigations={"meltdown": "Mitigation: PTI", "spectre_v2": "Mitigation: IBRS, IBPB: conditional"},
        machine_id=plan.machine_id,
    )  # fmt: skip


def events(found: CounterClass, plan: Plan) -> list[model.CountedEvent]:
    """Events of the passes with their codes; type 8 on the second type of cores."""
    number = 8 if found.pmus == ("cpu_atom",) else 4
    listed = []
    for one in counter_passes(found, CounterSharing(smt=False, watchdog=False)):
        optional = one.name.startswith(("by-size", "code", "caches"))
        if optional and not one.name.startswith(plan.optional or ("-",)):
            continue
        for event in one.events:
            name = event.alias(plan.mode)
            listed.append(model.CountedEvent(
                one.name, event.quantity, name, *event.attribute(number), 0, 0, plan.mode
            ))  # fmt: skip
        for event in everywhere():
            if event.quantity in SOFTWARE[plan.mode]:
                kind, config, name = GENERIC[event.perf_event]
                listed.append(model.CountedEvent(
                    one.name, event.quantity, name, kind, config, 0, 0, plan.mode
                ))  # fmt: skip
    return listed


@dataclass(frozen=True)
class Made:
    """A bundle's files, and what the processor counted: (run, quantity) -> count."""

    plan: Plan
    files: dict[str, bytes]
    truth: dict[tuple[int, str], int]
    runs: list[model.MeasuredRun]


def opened(plan: Plan, seed: int = 1) -> Made:
    """The files of a bundle that is not sealed."""
    rng = random.Random(f"bundle {seed}")
    found = counter_classes()[plan.class_name]
    cpu = processor(found, rng)
    found = next(one for one in of_cpu(cpu) if one.name == plan.class_name)
    listed = events(found, plan)
    by_pass: dict[str, list[model.CountedEvent]] = {}
    for event in listed:
        by_pass.setdefault(event.pass_name, []).append(event)
    layouts = {
        (w, name): Layout(name, {"brk": 64 << 20, "mmap": POOL}, windows(name, at))
        for at, w in enumerate(plan.workloads)
        for name in plan.layouts
    }
    runs, counts, truth, facts = [], [], {}, []
    for number in range(plan.rounds):
        order = [(w, name, p) for w, name in layouts for p in by_pass]
        rng.shuffle(order)
        for workload, name, pass_name in order:
            layout = layouts[workload, name]
            at = len(runs)
            head = (at, workload, "paper", name, number, pass_name)
            if name in plan.failing:
                if number == 0 and not any(r.layout == name and r.workload == workload for r in runs):
                    runs.append(model.MeasuredRun(*head, "failed", "status 1: it did not end"))
                continue
            scale = 40 + 10 * plan.workloads.index(workload)
            done = run(found, layout, f"{seed} {at}", plan.noise, scale)
            # by-size, code and caches are counted in other runs: what they share is R and instructions
            pages = 16_000, layout.pages(MB2), layout.pages(GB1)
            runs.append(model.MeasuredRun(*head, "ok", "", done.roi_ns, *pages))
            for event in by_pass[pass_name]:
                truth[at, event.role] = done.counts[event.role]
                late = rng.randrange(9000) if event.type != 1 else 0
                times = done.enabled_ns, done.enabled_ns - late
                counts.append(model.EventCount(at, event.name, done.counts[event.role], *times))
            counts.append(model.EventCount(at, model.REGION, done.roi_ns + 700, 0, 0))
            have = {event.role for event in by_pass[pass_name]}
            facts.append(RunFacts(
                str(at), workload, name, done.roi_ns, done.counts["R time"], 0,
                0 if "migrations" in have else None, done.counts["R cycles"],
                done.counts["R reference cycles"] if "R reference cycles" in have else None, True,
            ))  # fmt: skip
    about = model.About(
        1, head_checks.CURRENT_PROTOCOL, head_checks.current_protocol().sha256, "roi", plan.mode, "launcher",
        plan.rehearsal, plan.class_name, f"{plan.class_name}-{plan.machine_id[:8]}", "2026-05-04",
    )  # fmt: skip
    environment = [Condition(rule.check, rule.level, rule.wanted, "as wanted", "ok") for rule in RULES]
    environment += run_conditions(facts, 7, 7)
    environment.append(
        Condition(file_format.SLIDING_WINDOWS, "noted", "a measured profile", "measured", "ok")
    )
    workloads = {
        w: model.MeasuredWorkload(w, "paper", ("--size", "16GB"), f"{at + 1:064x}", True)
        for at, w in enumerate(plan.workloads)
    }
    texts = writer.head_files(about, machine(plan, cpu), environment, listed, workloads, layouts)
    texts[file_format.RUNS_FILE] = csv_files.csv_text(csv_files.RUNS_SHAPE, runs)
    texts[file_format.COUNTS_FILE] = csv_files.csv_text(csv_files.COUNTS_SHAPE, counts)
    return Made(plan, {name: text.encode() for name, text in texts.items()}, truth, runs)


def made(plan: Plan = Plan(), seed: int = 1) -> Made:  # noqa: B008 (it is frozen)
    """A sealed bundle."""
    bundle = opened(plan, seed)
    return Made(plan, sealed_files("made", bundle.files), bundle.truth, bundle.runs)


def put(files: dict[str, bytes], folder) -> None:
    """Write the files into a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def parts_of(files):
    """Arguments of :func:`writer.create`, from the files of an open bundle."""
    bundle = parse_bundle("made", files)
    heads = (
        bundle.about,
        bundle.machine,
        bundle.environment,
        bundle.events,
        bundle.workloads,
        bundle.layouts,
    )
    return bundle, heads
