"""``tessera mosalloc suggest``: finds the fewest 2MB pages that remove most TLB misses of a program."""

from __future__ import annotations

import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import click

from tessera.cli import options as shared
from tessera.cli.lazy import ProgramCommand
from tessera.cli.options import PATH
from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name

METHODS = ("auto", "perf", "simulate")


@click.command(cls=ProgramCommand)
@click.option(
    "--remove", default="90%", show_default=True, help="Share of the TLB misses in the pools to remove."
)
@click.option("--max-pages", metavar="N|BYTES",
              help="Most 2MB pages to use, or their memory, such as 64MB.  [default: no limit]")  # fmt: skip
@shared.out("Layout to write.", required=False, default=Path("suggested.csv"), show_default=True)
@shared.server
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="perf, simulate, or auto: perf if this machine has the counters.",
)
@click.option(
    "--samples", type=PATH, nargs=2, metavar="FILE REPORT",
    help="Record nothing: read the text of perf script, and what mosalloc-run --report wrote of that run.",
)  # fmt: skip
@shared.platform("Platform to simulate: name or YAML file.  [default: this machine]")
@shared.max_accesses(
    "Most accesses to record; about 0.15 s per million.", default=100_000_000, show_default=True
)
@shared.roi
@shared.pools("12GB", heap="4GB")
@click.option(
    "--apply",
    "apply_",
    is_flag=True,
    help="Also run PROGRAM with and without the layout, on real huge pages.",
)
@shared.pairs("Pairs of runs of --apply.", 10)
@click.option("--trial-load", metavar="CMD", help="Longer load for --apply.  [default: --load]")
@click.option(
    "--metric",
    metavar="REGEX",
    help="With --apply: number to compare in the output of the load or PROGRAM.",
)
@click.option("--better", type=click.Choice(("lower", "higher")), help="Which --metric is better.")
@shared.yes
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
def suggest(program: tuple[str, ...], **options) -> None:
    """Find the memory of PROGRAM where huge pages remove most TLB misses; write a layout.

    Runs PROGRAM once under 4KB pages. perf samples its TLB misses, if this machine has the counters; else
    QEMU records its accesses, and the simulator counts the misses. The output names the method. With
    --samples, the misses are those that perf sampled before, on this machine or on another.

    \b
    Examples:
      ./run tessera mosalloc suggest --apply -- build/workloads/gups --size 256MB --reads 20000000
      ./run tessera mosalloc suggest --ready-port 7000 --load 'redis-benchmark -p 7000 -t set' \\
        -- redis-server --port 7000 --save ''
    """
    from tessera.core.files import check_target
    from tessera.measure.mosalloc.capture import refuse_starters
    from tessera.record.traces.options import Options

    _check_sources(program, options)
    if program:
        refuse_starters(program, "tessera mosalloc suggest")
    check_target(options["out"])
    share = _share(options["remove"])
    if options["method"] not in METHODS:
        raise unknown_name("method", options["method"], METHODS)
    options["max_pages"] = _pages(options["max_pages"])
    Options(roi=options["roi"])  # a wrong region is an error before the program runs
    metric = _metric(options["metric"], options["better"])
    load = _load(options)
    with tempfile.TemporaryDirectory(prefix="tessera-suggest-") as name:
        reached = _suggest(program, share, load, options, Path(name))
    if options["apply_"]:
        trial_load = options["trial_load"]
        _apply(program, replace(load, command=trial_load) if trial_load else load, metric, options)
    if not reached:
        sys.exit(EXIT_FAILED)


def _suggest(program, share: float, load, options, folder: Path) -> bool:
    """Profile, choose, verify and write; returns whether the goal is reached."""
    from tessera.core.layouts.layout import write_layout
    from tessera.measure.suggest.profile import layout_for_native_runs
    from tessera.measure.suggest.proposal import profile_lines, proposal_lines, propose

    profile, platform = _profile(program, load, options, folder)
    for line in profile_lines(profile):
        click.echo(line)
    proposal = propose(profile, platform, share, options["max_pages"], options["out"].stem, folder)
    options["out"].absolute().parent.mkdir(parents=True, exist_ok=True)
    write_layout(layout_for_native_runs(proposal.layout), options["out"])
    for line in proposal_lines(profile, proposal):
        click.echo(line)
    click.echo(f"layout -> {options['out']}")
    return proposal.reached


def _profile(program, load, options, folder: Path):
    """The profile, and the platform that it was simulated on (None: measured)."""
    from tessera.core.units import parse_bytes
    from tessera.measure.suggest import sampled_profile, simulation

    if options["samples"] is not None:
        return sampled_profile.profile_from_files(*options["samples"]), None
    pool_bytes = {
        "brk": parse_bytes(options["heap_pool"], owner="--heap-pool"),
        "mmap": parse_bytes(options["anon_pool"], owner="--anon-pool"),
    }
    reason = sampled_profile.why_unusable() if options["method"] != "simulate" else "--method simulate"
    if options["roi"] != "auto" and not reason:
        reason = f"--roi {options['roi']}: perf samples the whole run"
    if options["method"] == "perf" and reason:
        raise TesseraError("--method perf", reason, "use --method simulate", code="cannot-sample")
    if not reason:
        return sampled_profile.recorded_profile(program, folder, pool_bytes=pool_bytes, load=load), None
    click.echo(f"method: recording and simulation ({reason})", err=True)
    platform = simulation.platform_of(options["platform"] or simulation.HOST_PLATFORM, folder)
    trace = simulation.record_trace(
        program,
        folder,
        pool_bytes=pool_bytes,
        max_accesses=options["max_accesses"],
        load=load,
        roi=options["roi"],
    )
    return simulation.simulated_profile(trace, platform, folder), platform


def _apply(program, load, metric, options) -> None:
    from tessera.core.layouts.layout import read_layout
    from tessera.core.units import PAGE_2MB
    from tessera.measure.mosalloc.memory_needs import may_add_pages
    from tessera.measure.suggest import before_and_after
    from tessera.measure.suggest.proposal import trial_lines

    pages = read_layout(options["out"]).pages(PAGE_2MB)
    done = before_and_after.compare_runs(
        program,
        options["out"],
        load=load,
        metric=metric,
        pairs=options["pairs"],
        allowed=may_add_pages(options["yes"], f"reserve {pages} pages of 2MB while the runs last?"),
        progress=lambda text: click.echo(text, err=True),
    )
    for line in trial_lines(done):
        click.echo(line)


def _check_sources(program, options) -> None:
    """Either a program is run, or samples of it are read with the report of that run."""
    if options["samples"] is None:
        if not program:
            raise click.UsageError("Missing argument 'PROGRAM...'.")
        return
    ignored = [f"--{name}" for name in ("load", "platform") if options[name] is not None]
    ignored += [f"--method {options['method']}"] * (options["method"] == "simulate")
    ignored += [f"--roi {options['roi']}"] * (options["roi"] != "auto")
    ignored = [name for name in ignored if name != "--load" or not options["apply_"]]
    if ignored:
        raise TesseraError("--samples", f"nothing is recorded, so {ignored[0]} has no effect", "leave it out")
    if bool(program) != options["apply_"]:
        found = "--apply needs a program" if options["apply_"] else "a program is run only by --apply"
        raise TesseraError("--samples", found, "give both --apply and the program, or neither")


def _pages(text: str | None) -> int | None:
    """A number of 2MB pages, or the whole ones in so many bytes."""
    from tessera.core.units import PAGE_2MB, parse_bytes

    if text is None:
        return None
    pages = int(text) if text.isdecimal() else parse_bytes(text, owner="--max-pages") // PAGE_2MB
    if not pages:
        raise TesseraError(
            f"--max-pages {text}", "less than one page of 2MB", "--max-pages 1, or --max-pages 2MB, or more"
        )
    return pages


def _share(text: str) -> float:
    number = text.removesuffix("%")
    try:
        share = float(number) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise TesseraError(f"--remove {text}", "not a share above 0 and at most 100%", "--remove 90%")
    return share


def _metric(pattern: str | None, better: str | None):
    import re

    from tessera.measure.suggest.before_and_after import Metric

    if (pattern is None) != (better is None):
        missing = "--better" if better is None else "--metric"
        raise TesseraError(missing, "not given", "--metric 'rps=([0-9.]+)' --better higher")
    if pattern is not None:
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise TesseraError(f"--metric '{pattern}'", str(error), "give a regular expression") from None
        if not groups:
            raise TesseraError(f"--metric '{pattern}'", "it has no group", "'rps=([0-9.]+)'")
    return Metric(pattern, better == "higher")


def _load(options):
    from tessera.measure.suggest.server_load import Load

    if options["load"] is None:
        for name in ("ready_port", "trial_load"):
            if options[name] is not None:
                option = "--" + name.replace("_", "-")
                raise TesseraError(option, "there is no --load", "give --load CMD too")
        return None
    return Load(options["load"], options["ready_port"], signal.Signals[f"SIG{options['stop_signal']}"])
