"""Files from elsewhere are read, or are errors with a message: never another exception.

Each reader gets random input for TESSERA_FUZZ_SECONDS of processor time (2 by default). The fuzzers of
samples (tests/mosalloc/samples) and of events files (artifacts/counters, events_fuzz) take seconds, too.
"""

from __future__ import annotations

import io
import json
import os
import random
import time
import zipfile

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.counters.event_table import class_named, counter_classes
from tessera.machine.perf.event_names import resolve
from tessera.machine.perf.ibs import read_ibs
from tessera.machine.perf.log import parse_log
from tessera.measure.bundles import file_format
from tessera.measure.bundles.archive import contents, pack_counts, sums_text, unpack_counts
from tessera.measure.bundles.verify import verify_files
from tessera.measure.counted import perf_stat
from tessera.measure.counted.counted_run import read_run_counts
from tessera.measure.perf_log_import import ImportOptions, import_logs, logs_from_names, logs_from_table
from tessera.measure.suggest.perf_events import event_kind
from tessera.measure.suggest.perf_script import read_recorded_pools
from tests.bundles.processor import Plan, made
from tests.counters.builders import LOGS, RUN, text

from .mutated import drawn, mutated

SECONDS = float(os.environ.get("TESSERA_FUZZ_SECONDS", "2"))
LOG_FILES = [path.read_bytes() for path in sorted(LOGS.glob("*.[pj]*"))] + [text(RUN).encode()]
IBS = [path.read_bytes() for path in sorted((LOGS / "ibs").glob("*.txt"))]
COUNTS = b"event,value,enabled_ns,running_ns\nR_cycles,123,100,100\nM_loads,5,100,100\nregion_ns,1000,0,0\n"
TABLE = b"file,layout,repeat\nlog.perf,4kb,0\n"
POOLS = {"brk": 1 << 40, "mmap": 1 << 41}
REPORT = {
    "pid": 12,
    "pools": [{"type": pool, "base": base, "size_bytes": 1 << 30} for pool, base in POOLS.items()],
    "windows": [],
}
EVENTS = [b"cpu/event=0x08,umask=0x10/u", b"cpu_core/config=0x1008,name=H_loads_u/u", b"r1008:uk",
          b"dtlb_load_misses.stlb_hit:u", b"cpu_atom/mem-loads,ldlat=30/P", b"ibs_op/cnt_ctl=1/"]  # fmt: skip


def log(rng, folder):
    rows = parse_log(drawn(rng, LOG_FILES).decode())
    assert rows and all((row.value is None) == bool(row.missing) and row.event for row in rows)


def imported(rng, folder):
    paths = [folder / f"4kb.p{n}.perf" for n in range(rng.randrange(1, 3))]
    for path in paths:
        path.write_bytes(drawn(rng, LOG_FILES))
    name = rng.choice(["broadwell", *counter_classes()])
    request = ImportOptions(
        "gups", f"{name}-lab", class_named(name), mode=rng.choice((None, "u")), sum_parts=rng.random() < 0.5,
        keep_repeats=rng.random() < 0.3, keep_going=rng.random() < 0.3,
    )  # fmt: skip
    for row in import_logs(logs_from_names(paths), request).rows:
        assert row["status"] != "ok" or row["runtime_cycles"] > 0


def counts(rng, folder):
    (folder / "counts.csv").write_bytes(mutated(rng, COUNTS))
    assert read_run_counts(folder / "counts.csv", ("R_cycles", "M_loads")).region_ns > 0


def counts_of_perf(rng, folder):
    good = (
        b"10;;cycles:u;100;100.00;;\n5;;M_loads_u;100;100.00;;\n1600000;ns;duration_time;1600000;100.00;;\n"
    )
    (folder / "log").write_bytes(mutated(rng, good))
    perf_stat.read_perf_counts(folder / "log", {"R": "cycles", "M": "M_loads_u"}, ("R", "M"))


def table(rng, folder):
    (folder / "log.perf").touch()
    (folder / "t.csv").write_bytes(mutated(rng, TABLE))
    logs_from_table(folder / "t.csv")


def report(rng, folder):
    (folder / "r.json").write_bytes(mutated(rng, json.dumps(REPORT).encode()))
    read_recorded_pools(folder / "r.json")


def event(rng, folder):
    name = mutated(rng, rng.choice(EVENTS)).decode()
    event_kind(name)
    resolve(name, class_named(rng.choice(list(counter_classes()))))


def ibs(rng, folder):
    (folder / "ibs.txt").write_bytes(drawn(rng, IBS))
    assert all(0 <= one.refill_cycles < 1 << 16 for one in read_ibs(folder / "ibs.txt"))


def bundle(rng, folder):
    name = rng.choice(sorted(set(GOOD) - {file_format.SUMS_FILE}))
    if name == file_format.PACKED_FILE:
        new = pack_counts(mutated(rng, unpack_counts(GOOD[name])))
    else:
        new = mutated(rng, GOOD[name])
    files = GOOD | {name: new}
    files[file_format.SUMS_FILE] = sums_text(files).encode()
    done = verify_files("made", files)
    assert done.checks
    if not done.passed:
        raise TesseraError("bundle", "a check fails", "")


def zipped(rng, folder):
    """Bytes of a zip file, mostly those of its directory, at the end."""
    made_of = bytearray(rng.choice(ZIPS))
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(made_of) if rng.random() < 0.4 else 1200)
        made_of[-1 - at] = rng.randrange(256)
    (folder / "bundle.zip").write_bytes(made_of)
    contents(folder / "bundle.zip")


def zip_of(method):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in GOOD.items():
            archive.writestr(name, data[:3000])
    return stream.getvalue()


GOOD = made(Plan(optional=("by-size",), rounds=1, layouts=("growing-0", "growing-4", "1gb"))).files
ZIPS = [zip_of(method) for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods_of_zip_files_are_errors(method, tmp_path):
    (tmp_path / "bundle.zip").write_bytes(zip_of(method))
    with pytest.raises(TesseraError, match="deflate") as error:
        contents(tmp_path / "bundle.zip")
    assert error.value.code == "bundle-zip"


@pytest.mark.parametrize(
    "reader",
    [log, imported, counts, counts_of_perf, table, report, event, ibs, bundle, zipped],
    ids=lambda one: one.__name__,
)
def test_any_input_is_read_or_an_error(reader, tmp_path):
    rng, until = random.Random(7), time.process_time() + SECONDS
    executions, accepted = 0, 0
    while time.process_time() < until or executions < 100:
        executions += 1
        try:
            reader(rng, tmp_path)
            accepted += 1
        except TesseraError as error:
            assert error.asked and error.found
        except UnicodeDecodeError:  # of this file's own decode()
            assert reader in (log, event)
    print(f"{reader.__name__}: {executions} executions, {accepted} accepted")
    assert 0 < accepted < executions  # the input reaches behind the reader's first checks
