"""H and M of Tessera beside those of pycachesim, a cache simulator by others, for the same recordings.

A TLB of 4KB pages is a cache whose lines have 4096 bytes. Both programs get the same trace: Tessera its own
file, pycachesim the records that ``tessera trace export`` writes. pycachesim is no dependency of Tessera;
README.md says how to install it beside. README.md also says what was found.
"""

from __future__ import annotations

import csv
import io
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import built, repo_root, write_csv
from tessera.core.platforms import Platform
from tessera.machine.container import toolchain
from tessera.record import traces

FROZEN = Path(__file__).with_name("peers.csv")
LAYOUT = repo_root() / "examples" / "all-4kb.csv"
PLATFORMS = ("sandybridge-sim", "haswell-sim", "broadwell-sim")
PAGE_BYTES = 4096
COUNTS = ("accesses", "stlb_hits", "stlb_misses", "instruction_stlb_hits", "instruction_stlb_misses")
#: ChampSim's record of one instruction, 64 bytes.
RECORD = np.dtype(
    [("ip", "<u8"), ("branch", "u1", 2), ("registers", "u1", 6), ("stores", "<u8", 2), ("loads", "<u8", 4)]
)
BLOCK_RECORDS = 1 << 18


def fetches_and_data(records: Path) -> Iterator[tuple[int, list[int]]]:
    """Addresses of instructions where the page of code changes, each with the data addresses up to the next.

    A fetch from the page of the last fetch changes nothing in a TLB. It is left out, and 0 stands where a
    block of records begins in the same page. Loads and stores are one sequence: a TLB looks both up.
    """
    with records.open("rb") as stream:
        last = None
        while len(block := np.fromfile(stream, RECORD, BLOCK_RECORDS)):
            pages = block["ip"] // PAGE_BYTES
            begins = np.flatnonzero(np.concatenate([[True], pages[1:] != pages[:-1]]))
            data = np.concatenate([block["loads"], block["stores"]], axis=1)
            for begin, end in zip(begins, [*begins[1:], len(block)], strict=True):
                found = data[begin:end]
                yield int(block["ip"][begin]) if pages[begin] != last else 0, found[found != 0].tolist()
                last = pages[begin]


def peer_counts(records: Path, platform: Platform) -> dict[str, int | float]:
    """:data:`COUNTS` of pycachesim, and its processor time; LRU in all arrays.

    Raises:
        TesseraError: pycachesim is not installed, or an array of the platform is not LRU.
    """
    try:
        import cachesim
    except ImportError:
        raise TesseraError("import cachesim", "pycachesim is not installed", "see README.md beside") from None

    def array(key: str, policy: str, below=None):
        entries, ways = (platform.values[f"tlb.{key}.{part}"].value for part in ("entries", "ways"))
        if (found := platform.values[f"tlb.{policy}.replacement"].value) != "lru":
            raise TesseraError(f"platform {platform.name}", f"tlb.{policy}.replacement is {found}", "use lru")
        sets = entries // ways
        return cachesim.Cache(key, sets, ways, PAGE_BYTES, "LRU", load_from=below, store_to=below)

    begin = time.process_time()
    memory = cachesim.MainMemory()
    stlb = array("stlb", "stlb")
    memory.load_to(stlb)
    memory.store_from(stlb)
    data, code = (
        cachesim.CacheSimulator(array(key, policy, stlb), memory)
        for key, policy in (("l1d.4kb", "l1d"), ("l1i", "l1i"))
    )
    accesses, of_code = 0, np.zeros(2, int)
    for fetch, addresses in fetches_and_data(records):
        if fetch:
            before = np.array([stlb.HIT_count, stlb.MISS_count])
            code.load([fetch])  # a list: load() of one number keeps 32 bits of it in pycachesim 0.3.1
            of_code += np.array([stlb.HIT_count, stlb.MISS_count]) - before
        data.load(addresses)
        accesses += len(addresses)
    of_data = np.array([stlb.HIT_count, stlb.MISS_count]) - of_code
    counts = dict(zip(COUNTS, map(int, (accesses, *of_data, *of_code)), strict=True))
    return counts | {"processor_seconds": time.process_time() - begin}


def our_counts(trace: Path, platform: Platform) -> dict[str, int | float]:
    """:data:`COUNTS` of ``tessera-sim`` without caches, and the processor time of its process."""
    with tempfile.TemporaryDirectory(prefix="tessera-peers-") as name:
        folder = Path(name)
        (folder / "all-4kb.csv").write_bytes(LAYOUT.read_bytes())
        (folder / "list").write_text(f"{folder / 'all-4kb.csv'}\n")
        (folder / "flat").write_text(platform.flat())
        argv = [built("simulator", "tessera-sim"), "run", "--trace", trace.resolve(), "--platform"]
        argv += [folder / "flat", "--layouts", folder / "list", "--engine", "partial", "--sampling", "tlbs"]
        argv += ["--usage-out", folder / "usage.csv"]
        done = toolchain().run([str(a) for a in argv], paths=[trace.resolve(), folder], capture=True)
        (row,) = csv.DictReader(io.StringIO(done.stdout))
        (usage,) = csv.DictReader((folder / "usage.csv").read_text().splitlines())
    if row["status"] != "ok":
        raise TesseraError(f"simulate {trace}", row["message"], "choose another trace or platform")
    counts = {key: int(row[key]) for key in COUNTS}
    return counts | {"processor_seconds": float(usage["processor_seconds"])}


def compared(trace: Path, names: list[str], repeats: int) -> list[dict]:
    """A row per platform and program: the counts, and the least processor time of ``repeats`` runs."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="tessera-peers-") as folder:
        records = Path(folder) / "records"
        traces.export_champsim(trace, records)
        for platform in map(platforms.load_platform, names):
            programs = (("tessera", our_counts, trace), ("pycachesim", peer_counts, records))
            for program, count, source in programs:
                runs = [count(source, platform) for _ in range(repeats)]
                seconds = min(float(run["processor_seconds"]) for run in runs)
                of = {"trace": trace.stem, "platform": platform.name, "program": program}
                rows.append(of | runs[0] | {"processor_seconds": f"{seconds:.3f}"})
    return rows


def findings(path: Path = FROZEN) -> list[str]:
    """Lines of README.md, from the frozen table."""
    table = pd.read_csv(path)
    lines = []
    for (trace, platform), pair in table.groupby(["trace", "platform"], sort=False):
        equal = (pair[list(COUNTS)].nunique() == 1).all()
        first = pair.iloc[0]
        lines.append(
            f"| {trace} | {platform} | {first['stlb_hits']:,} | {first['stlb_misses']:,} | "
            f"{first['instruction_stlb_hits']:,} | {first['instruction_stlb_misses']:,} | "
            f"{'equal' if equal else 'DIFFERENT'} |"
        )
    for program, of in table[table["trace"] == "gups"].groupby("program", sort=False):
        seconds = of["processor_seconds"]
        lines.append(f"{program}: {seconds.min():.2f} to {seconds.max():.2f} s for gups")
    return lines


@click.command()
@click.argument("recordings", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--platform", "names", multiple=True, default=PLATFORMS, show_default=True, help="Platform.")
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(1), help="Runs of each program.")
@click.option("--out", default=FROZEN, show_default="beside", type=click.Path(path_type=Path), help="CSV.")
def command(recordings: tuple[Path, ...], names: tuple[str, ...], repeats: int, out: Path) -> None:
    """Count H and M of RECORDINGS (.tst) with Tessera and with pycachesim, all pages of 4KB."""
    rows = [row for trace in recordings for row in compared(trace, list(names), repeats)]
    write_csv(pd.DataFrame(rows), out)
    click.echo("\n".join(findings(out)))


if __name__ == "__main__":
    command()
