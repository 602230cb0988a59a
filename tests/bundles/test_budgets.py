"""Whatever numbers and sizes a bundle has, each command answers in time and memory that are known before."""

import json
import random
import subprocess
import sys
import zipfile
import zlib
from dataclasses import replace

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.measure.bundles import csv_files, file_format, verify, writer
from tessera.measure.bundles.bundle import EventCount
from tessera.measure.bundles.verify import verify_files
from tests.bundles import extremes
from tests.bundles.clock import TooLong, at_most
from tests.bundles.processor import Plan, made, opened, put

PLAN = Plan(rounds=2, layouts=("growing-0", "growing-8"))
SECONDS, MEMORY_MB = 2, 300

#: Verifies each zip file of the command line; prints time of the processor, largest memory and failed checks.
CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from tessera.measure.bundles.verify import verify_bundle
from tests.bundles.clock import at_most
for path in sys.argv[1:]:
    with at_most(SECONDS) as time:
        done = verify_bundle(path)
        spent = time()
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    peak = int(status["VmHWM"].split()[0]) // 1024  # ru_maxrss would begin with that of the parent
    print(spent, peak, [f"{c.name}: {c.reasons[0]}" for c in done.checks if not c.passed], sep="|")
"""


@pytest.fixture(scope="module")
def good():
    return made(PLAN).files


def reason(done):
    """The first reason of the last check; of a bundle that can't be read it is the only one."""
    return done.checks[-1].reasons[0] if done.bundle is None else ""


@pytest.mark.parametrize("mutants, least", [(extremes.numbers, 300), (extremes.containers, 280)])
def test_extremes_are_verified_in_time(good, mutants, least):
    late, count, refused = [], 0, 0
    for one in mutants(good):
        count += 1
        try:
            with at_most(SECONDS):
                done = verify_files("made", one.files)
        except TooLong:
            late.append(one.kind)
            continue
        refused += not done.passed
    assert not late
    assert count >= least and refused > 0.75 * count


def test_numbers_of_rounds_are_dense(good):
    header, *rows = extremes.table(good[file_format.RUNS_FILE])
    for number in (1, 2, 7, extremes.LARGEST):
        first = [row if row[3] != "growing-8" else [*row[:4], str(number), *row[5:]] for row in rows[:2]]
        files = extremes.changed(good, {file_format.RUNS_FILE: extremes.text(header, [*first, *rows[2:]])})
        with at_most(SECONDS), pytest.raises(TesseraError) as error:
            verify.parse_bundle("made", files)
        assert error.value.code == ("bundle-twice" if number == 1 else "bundle-value")


def bomb(row: bytes, count: int) -> bytes:
    """A gzip file of ``count`` equal rows below the header of counts."""
    packer = zlib.compressobj(1, wbits=31)
    parts = [packer.compress(",".join(csv_files.COUNTS_SHAPE.columns).encode() + b"\n")]
    parts += [packer.compress(row * 100_000) for _ in range(count // 100_000)]
    return b"".join([*parts, packer.flush()])


def object_of(entries) -> bytes:
    return b"{" + b",".join(entries) + b"}"


def counts_that_pack_badly(rows: int) -> bytes:
    rng, some = random.Random(3), 20_000  # too far apart for gzip
    lines = [f"{at // 16},e{at % 16},{rng.getrandbits(40)},1,1\n" for at in range(some)]
    block = "".join(lines).encode() * (rows // some + 1)
    return ",".join(csv_files.COUNTS_SHAPE.columns).encode() + b"\n" + block


def test_memory_and_time_of_large_bundles(good, root, tmp_path):
    """In a process of its own, so that the largest memory is that of the checks."""
    packed, runs, about = file_format.PACKED_FILE, file_format.RUNS_FILE, file_format.ABOUT_FILE
    header, *rows = extremes.table(good[runs])
    long = [[str(at), *rows[0][1:6], "failed", "x" * 1900, "", "", "", ""] for at in range(15_000)]
    made = {
        "campaign": (extremes.campaign(good), "cells"),
        "workloads": (extremes.of_workloads(good), "cells"),
        "rows": (
            extremes.changed(good, {packed: counts_that_pack_badly(file_format.MOST_COUNTS + 1)}),
            f"more than {file_format.MOST_COUNTS} rows",
        ),
        "27 million rows": (good | {packed: bomb(b"0,e,0,0,0\n", 27_000_000)}, "more than"),
        "messages": (extremes.changed(good, {runs: extremes.text(header, long)}), "stands twice"),
        "keys": (good | {about: object_of(b'"%d":0' % at for at in range(95_000))}, "more than 20000 keys"),
        "fewer keys": (good | {about: object_of(b'"%d":0' % at for at in range(19_000))}, "unknown key"),
    }  # fmt: skip
    for name, (files, _) in made.items():
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            for inside, data in files.items():
                archive.writestr(inside, data)
    command = [sys.executable, "-P", "-c", CHILD.replace("SECONDS", str(SECONDS))]
    done = subprocess.run(
        [*command, *(str(tmp_path / f"{name}.zip") for name in made)], capture_output=True, text=True,
        env={"PYTHONPATH": f"{root / 'src'}:{root}", "OPENBLAS_NUM_THREADS": "1"}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line.split("|") for line in done.stdout.splitlines()]
    assert len(lines) == len(made)
    for (name, (_, wanted)), (seconds, peak, found) in zip(made.items(), lines, strict=True):
        assert wanted in found, (name, found)
        assert float(seconds) < SECONDS and int(peak) < MEMORY_MB, (name, seconds, peak)


@pytest.mark.parametrize("fault", ["round", "keys", "rows"])
def test_every_command_takes_the_same_checked_path(good, tmp_path, fault):
    """verify, show, add, judge, merge, and the check of ``./run reproduce --bundle``."""
    header, *rows = extremes.table(good[file_format.RUNS_FILE])
    changes = {
        "round": {
            file_format.RUNS_FILE: extremes.text(
                header, [[*r[:4], str(extremes.LARGEST), *r[5:]] for r in rows]
            )
        },
        "keys": {file_format.ABOUT_FILE: object_of([b'"a":0'] * 150_000)},
        "rows": {
            file_format.EVENTS_FILE: good[file_format.EVENTS_FILE]
            + good[file_format.EVENTS_FILE].splitlines(True)[1] * file_format.MOST_EVENTS
        },
    }
    bad, fine, new = tmp_path / "bad", tmp_path / "fine", str(tmp_path / "new")
    put(extremes.changed(good, changes[fault]), bad)
    put(good, fine)
    for words in (
        ("verify", bad), ("show", bad), ("add", bad, "--bundles", new),
        ("judge", bad, "--out", new), ("merge", bad, fine, "--out", new),
        ("merge", fine, bad, "--out", new), ("dev", "step", "accept", f"bundle={bad}", "--out", new),
    ):  # fmt: skip
        with at_most(SECONDS):
            of = () if words[0] == "dev" else ("measure", "bundle")
            done = CliRunner().invoke(cli, list(map(str, (*of, *words))))
        assert done.exit_code == 1 and (
            done.exception is None or type(done.exception) in (SystemExit, TesseraError)
        )
        said = done.output + str(done.exception)
        assert {"round": str(extremes.LARGEST), "keys": "'a'", "rows": str(file_format.MOST_EVENTS)}[
            fault
        ] in said


def test_problems_are_counted_up_to_a_limit():
    """A check whose problems never end."""

    def endless():
        while True:
            yield "wrong"

    with at_most(SECONDS):
        assert verify._few(endless())[-1] == f"and more than {file_format.MOST_PROBLEMS} more"
    assert verify._few(["a"] * 23)[-1] == "and 3 more" and len(verify._few(["a"] * 20)) == 20


def test_plain_counts_are_those_of_the_slow_parser():
    """Random rows with random damage: the same columns, or None where the slow parser decides."""
    slow, rng = replace(csv_files.COUNTS_SHAPE, plain=None), random.Random(11)
    kept = 0
    for _ in range(1500):
        rows = [
            [str(rng.choice([0, 7, 2**53 - 1, rng.getrandbits(50)])), f"e_{rng.randrange(3)}",
             *(str(rng.getrandbits(rng.choice([1, 20, 53]))) for _ in range(3))]
            for _ in range(rng.randrange(1, 6))
        ]  # fmt: skip
        data = bytearray("".join(",".join(row) + "\n" for row in rows).encode())
        if rng.random() < 0.6:
            at = rng.randrange(len(data))
            data[at : at + rng.randrange(2)] = rng.choice(
                [b"", b"0", b",", b"-", b"\n", b'"', b"\xff", b"9" * 17, b"\r"]
            )
        if not data.endswith(b"\n"):
            continue
        fast = csv_files.plain_counts(bytes(data), 5)
        head = ",".join(slow.columns).encode() + b"\n"
        try:
            (wanted,) = csv_files.csv_columns(slow, [head + bytes(data)])
        except TesseraError:
            assert fast is None, bytes(data)
            continue
        if fast is not None:
            kept += 1
            assert [list(column) for column in fast] == wanted
    assert kept > 500


def test_a_writer_ends_before_a_bundle_is_too_large(tmp_path, monkeypatch):
    bundle = opened(PLAN)
    put(bundle.files, tmp_path)
    found, before = writer.resume_bundle(tmp_path)
    assert (found.runs, found.counts) == (4, sum(map(len, before.counts.values())))
    last = bundle.runs[-1]
    for name, most in (("MOST_RUNS", 4), ("MOST_COUNTS", found.counts)):
        with monkeypatch.context() as patched:
            patched.setattr(file_format, name, most)
            with pytest.raises(TesseraError) as error:
                writer.resume_bundle(tmp_path)[0].append(
                    replace(last, run=99), [EventCount(99, "e", 1, 1, 1)]
                )
        assert error.value.code == "bundle-full"
    assert json.loads((tmp_path / file_format.ABOUT_FILE).read_text())["schema"] == 1
    assert len(writer.resume_bundle(tmp_path)[1].runs) == 4
