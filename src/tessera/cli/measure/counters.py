"""``tessera measure counters``: events of processors' counters, commands that record them, their check."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.cli import options
from tessera.cli.lazy import OldNamesGroup
from tessera.core.terminal import unescaped

_HOW = {("loads", "stores"): "loads + stores", ("any",): "loads and stores together", (): "not counted"}


@click.group(cls=OldNamesGroup)
def counters() -> None:
    """List the events of H, M and C on each class of processors; print commands; check this machine.

    A class is a set of processors whose counters count the same, for example broadwell.

    Example: ./run tessera measure counters show broadwell
    """


def _class_row(found) -> tuple[str, ...]:
    from tessera.machine.counters.passes import CounterSharing, counter_passes

    def count(smt: bool) -> int:
        return sum(not one.optional for one in counter_passes(found, CounterSharing(smt)))

    how = [_HOW.get(found.sides(symbol), ", ".join(found.sides(symbol))) for symbol in ("H", "M", "C")]
    general = f"{found.general(True)}/{found.general(False)}"
    return (
        found.name,
        found.cpuid,
        str(found.walkers or "-"),
        general,
        *how,
        f"{count(True)}/{count(False)}",
    )


def _event_row(event) -> tuple[str, ...]:
    on, off = (" ".join(sorted(event.counters(smt))) or "-" for smt in (True, False))
    where = on if on == off else f"{on} (SMT off: {off})"
    named = (event.quantity, event.role, event.name, event.perf_event)
    return (*named, where, event.status, event.caveat, event.source)


@counters.command()
@click.argument("name", metavar="[CLASS]", required=False)
@click.option("--details", is_flag=True, help="Print each event with source, status and caveat, not passes.")
@click.option("--smt", type=click.Choice(("on", "off")), default="on", show_default=True,
              help="SMT of the machine that records: it halves the counters up to Cascade Lake.")  # fmt: skip
@click.option("--watchdog", type=click.Choice(("on", "off")), default="on", show_default=True,
              help="NMI watchdog there: it takes a counter (sysctl kernel.nmi_watchdog).")  # fmt: skip
@options.mode
@click.option("--pmu", default="", help="PMU of the cores, if the class has several.  [default: the first]")
def show(name: str | None, details: bool, smt: str, watchdog: str, mode: str, pmu: str) -> None:
    """Print the passes of a class, and the command of `perf stat` for each. Without CLASS: list the classes.

    A pass is a set of events that fit on the counters together, so that nothing is multiplexed. Replace
    LAYOUT and PROGRAM in the commands; `tessera measure import` reads the files. CLASS is a name of the list,
    or `this` for this machine, whose SMT and watchdog are then used; with --details also `any`: events of
    every Linux machine (software, msr, power).

    Columns of the list: processors (family_model of CPUID); page walkers; general counters of a logical
    processor with SMT on/off; what counts H, M and C; passes that H, M and C need with SMT on/off.

    \b
    Statuses of events:
      source        the named source has the event
      constructed   own sum of unit masks, or own counter mask
      verify        not read in the source of this class: check it on the machine
      experimental  some fields are unknown: no pass contains it
      absent        the class does not count it
      rehearsal     for tests without a PMU

    \b
    Example:
      ./run tessera measure counters show skylake --smt off
      ./run tessera measure counters show sandybridge --details
    """
    from tessera.core.errors import unknown_name
    from tessera.core.tables import print_table
    from tessera.machine.counters.event_table import ANY, class_named, counter_classes, everywhere
    from tessera.machine.counters.passes import CounterSharing, counter_passes, perf_stat

    if name is None:
        heads = ("class", "processors", "walkers", "counters", "H", "M", "C", "passes")
        print_table(heads, [_class_row(found) for found in counter_classes().values()], whole=(0, 2, 3, 7))
        return
    if details:
        heads = ("quantity", "role", "event", "perf", "counters", "status", "caveat", "source")
        of_class = (
            (_this()[0] if name == "this" else class_named(name)).events if name != ANY else everywhere()
        )
        print_table(heads, [_event_row(event) for event in of_class], whole=(0, 1))
        return
    machine = CounterSharing(smt == "on", watchdog == "on")
    found, machine = _this() if name == "this" else (_named(name), machine)
    if pmu and pmu not in found.pmus:
        raise unknown_name(f"PMU of {found.name}", pmu, found.pmus)
    click.echo(f"{found.name}: {found.cpuid}; PMU {pmu or ' or '.join(found.pmus)}")
    general = found.general(machine.smt)
    click.echo(f"{general} general counters: SMT {_on(machine.smt)}, watchdog {_on(machine.watchdog)}")
    for one in counter_passes(found, machine):
        click.echo(f"\npass {one.name}: {', '.join(event.quantity for event in one.events)}")
        click.echo(f"  {perf_stat(one, mode, pmu)}")
    _print_remarks(found)


@counters.command()
@options.mode
@options.out("Write the results as CSV (checks.csv).", required=False)
def check(mode: str, out: Path | None) -> None:
    """Open the events of this machine's class, and prove them on a program with known misses.

    \b
    Checks:
      software   page faults and time are counted; needs no PMU
      opens      the kernel opens the event
      scheduled  all events of a pass are on counters together, all the time
      proof      the workload chase: counts of loads with known TLB misses lie between bounds
      fact       how many events of H, M and C the class has

    Statuses: ok; refused (the kernel does not open it); differs (it counts something else); unproven
    (for example, chase is not built). docs/reference/counters.md derives the bounds. Exit status: 1 if an
    event that cells need is refused or differs.

    Example: ./run tessera measure counters check --out checks.csv
    """
    from tessera.core.files import check_target, write_text
    from tessera.machine.counter_check.opening import failed_checks, rows_csv

    if out is not None:
        check_target(out)
    rows = _checked(mode)
    _print_checks(rows)
    if out is not None:
        write_text(out, rows_csv(rows))
    sys.exit(int(bool(failed_checks(rows))))


def _checked(mode: str):
    """Rows of this machine; tests replace it."""
    from tessera.core.files import build_dir
    from tessera.machine.counter_check.examine import check_counters
    from tessera.machine.counter_check.known_programs import chase_counter
    from tessera.machine.counter_check.opening import Linux
    from tessera.machine.counters.event import Cpu
    from tessera.machine.counters.event_table import of_cpu
    from tessera.machine.doctor.hardware import cpu_facts

    kernel, cpu = Linux(), Cpu.from_cpuinfo(cpu_facts())
    return check_counters(
        cpu, of_cpu(cpu), kernel, chase_counter(kernel), program=build_dir("workloads") / "chase", mode=mode
    )


_COLOURS = {"ok": "green", "refused": "red", "differs": "red", "unproven": "yellow"}


def _print_checks(rows) -> None:
    """One line for each row, its remedy below it, and what follows."""
    from tessera.machine.counter_check.opening import UNPROVEN, failed_checks

    for row in rows:
        status = click.style(f"{row.status:<8}", fg=_COLOURS[row.status])
        wanted = f" (wanted: {row.wanted})" if row.wanted else ""
        click.echo(status, nl=False, file=unescaped(sys.stdout))
        click.echo(f"  {row.check:<9}  {row.class_name or '-':<14}  {row.subject}: {row.found}{wanted}")
        if row.remedy:
            click.echo(f"{'':10}-> {row.remedy}")
    click.echo("")
    for name in dict.fromkeys(row.class_name for row in rows if row.class_name):
        if any(r.class_name == name and r.subject == "events of C" and r.found == "0" for r in rows):
            click.echo(f"{name} does not count C: models that need C are NOT-MEASURABLE on it")
            _print_amd_finding(name, rows)
    unproven = sum(row.status == UNPROVEN and row.check == "proof" for row in rows)
    if unproven:
        click.echo(f"{unproven} results are not proven: see their remedies")
    bad = failed_checks(rows)
    listed = ", ".join(dict.fromkeys(row.subject for row in bad))
    click.echo(f"this machine cannot measure cells: {listed}" if bad else "this machine can measure cells")


def _print_amd_finding(name: str, rows) -> None:
    """What the checks say of MICRO'20 VI-A: AMD's counters do not count walk cycles."""
    from tessera.machine.counter_check.opening import OK

    facts = [r for r in rows if r.class_name == name and r.check == "fact" and r.subject == "events of C"]
    if _named(name).intel:
        return
    if all(row.status == OK for row in facts):
        click.echo(
            "as in MICRO'20 VI-A (claim micro20-amd-no-walk-cycles); a bundle decides it: ./run measure"
        )
    else:
        click.echo("MICRO'20 VI-A says so, too; it is not shown here, because nothing was counted")


def _named(name: str):
    from tessera.machine.counters.event_table import class_named

    return class_named(name)


def _on(value: bool) -> str:
    return "on" if value else "off"


def _this():
    """The class of this machine, and its machine settings."""
    from tessera.core.errors import TesseraError
    from tessera.machine.counters import sysfs
    from tessera.machine.counters.event import Cpu
    from tessera.machine.counters.event_table import of_cpu
    from tessera.machine.doctor.hardware import cpu_facts

    cpu = Cpu.from_cpuinfo(cpu_facts())
    found = of_cpu(cpu)
    if not found:
        raise TesseraError(
            f"the class of this processor ({cpu or 'CPUID unknown'})",
            "no row of the table is for it",
            "name a class of `tessera measure counters show`; docs/reference/counters.md says how to add one",
        )
    if len(found) > 1:
        click.echo(
            f"two types of cores: {', '.join(c.name for c in found)}; bind the program to one", err=True
        )
    return found[0], sysfs.counting_machine()


def _print_remarks(found) -> None:
    """What holds for the class: what it does not count, and the caveats of the events that passes contain."""
    remarks: dict[str, list[str]] = {}
    for event in found.events:
        if event.caveat and event.role in ("all", "loads", "stores", "any", "none", "guest"):
            remarks.setdefault(event.caveat, []).append(event.quantity)
    click.echo("\nremarks:")
    for caveat, quantities in remarks.items():
        click.echo(f"  {', '.join(quantities)}: {caveat}")
