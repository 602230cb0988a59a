"""The notes on a trace that lacks a part of its program: texts, their reader, lines of commands."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.output import say_trace_notes
from tessera.cli.simulate import simulate
from tessera.core.results.outcomes import joined_notes, note_in, note_of, note_of_all, note_sentence, notes_in
from tessera.core.results.table_io import read_cells
from tessera.simulate import runner

BARE = "one of 8 threads"
FULL = "one of 8 threads (thread 3, 12.50% of their blocks)"
THREAD = {"number": 3, "blocks": 125, "all_blocks": 1000}
OUTSIDE = "33.6% of accesses outside the pools"


@pytest.mark.parametrize(
    ("info", "note"),
    [
        ({}, ""),
        ({"threads": None}, ""),
        ({"threads": 1}, ""),
        ({"threads": 2}, "one of 2 threads"),
        ({"threads": 8}, BARE),
        ({"threads": 8, "thread": THREAD}, FULL),
        ({"threads": 2, "thread": THREAD | {"blocks": 0, "all_blocks": 0}},
         "one of 2 threads (thread 3, 0.00% of their blocks)"),
        ({"threads": 2, "thread": THREAD | {"blocks": 1000, "number": 0}},
         "one of 2 threads (thread 0, 100.00% of their blocks)"),
        ({"threads": 1, "accesses": 1000, "outside_accesses": None}, ""),
        ({"threads": 1, "accesses": 0, "outside_accesses": 0}, ""),
        ({"threads": 1, "accesses": 1000, "outside_accesses": 9}, ""),
        ({"threads": 1, "accesses": 1000, "outside_accesses": 10}, "1.0% of accesses outside the pools"),
        ({"threads": 1, "accesses": 1000, "outside_accesses": 336}, OUTSIDE),
        ({"threads": 8, "accesses": 1000, "outside_accesses": 1000},
         f"{BARE}; 100.0% of accesses outside the pools"),
    ],
)  # fmt: skip
def test_what_is_written_is_read_beside_everything_else_that_a_message_has(info, note):
    assert note_of(info) == note
    for message in (
        note,
        joined_notes(note, "set: mmu.design=thp, a.b=2"),
        joined_notes("5 runs: too few", note),
    ):
        assert note_in(message) == note
    assert (note_sentence(note) == "") == (note == "")


@pytest.mark.parametrize(
    "message",
    ["", None, float("nan"), "one of threads", "one of 8 threads?", "set: one of 8 threads",
     "None of 8 threads",
     "33% of accesses outside the pools", f"x {OUTSIDE}", "one of 8 threads (thread 3)",
     "all of 8 threads", "x one of 8 threads; y"],
)  # fmt: skip
def test_other_messages_have_no_note(message):
    assert note_in(message) == ""


def test_different_notes_are_listed_once_in_their_order():
    assert notes_in([BARE, "", FULL, joined_notes(FULL, "set: x=1"), None, BARE]) == [BARE, FULL]
    assert notes_in([f"{BARE}; {OUTSIDE}; set: x=1", OUTSIDE]) == [f"{BARE}; {OUTSIDE}", OUTSIDE]
    both = note_of_all([f"{BARE}; {OUTSIDE}", OUTSIDE, FULL, "set: x=1"])
    assert both == note_in(
        joined_notes(both, "set: x=1")
    ) == f"{BARE}; {OUTSIDE}; {FULL}" and not note_of_all(["", None])
    assert note_sentence(both).count("the trace has") == 3 and note_sentence(both).count("4KB pages") == 1
    assert joined_notes("", "") == "" and joined_notes("a", "", "b") == "a; b"


def write_trace(path: Path, threads: int, thread: str = "") -> Path:
    """A file whose header says so; its accesses are never read."""
    body = (
        "program=p\norigin=qemu\naccesses=1\nstores=0\ninstructions=1\nblock_executions=1\n"
        f"distinct_4kb_pages=1\nthreads={threads}\ncomplete_roi=1\nkernel_modelled=0\nkernel_accesses=0\n"
        f"stopped=0\nchecksum=abc\n{thread}pool=mmap 4294967296 4096 4096 1\n"
    ).encode()
    text = body + b"sha256=" + hashlib.sha256(body).hexdigest().encode() + b"\n"
    head = struct.pack("<8sQQQQQ", b"TESSTRC4", 112, len(text), 0, 0, 0)
    path.write_bytes(head.ljust(112, b"\0") + text)
    return path


@pytest.mark.parametrize(
    ("threads", "line", "note"), [(1, "", ""), (8, "", BARE), (8, "thread=3 125 1000\n", FULL)]
)
def test_the_command_says_it_on_stderr_and_in_the_message_of_ok_rows(
    tmp_path, monkeypatch, threads, line, note
):
    trace = write_trace(tmp_path / "t.tst", threads, line)
    layout = tmp_path / "growing-0.csv"
    layout.write_text("type,pageSize,startOffset,endOffset\nmmap,-1,0,1GB\n")

    def fake(job, layouts, keep, progress):
        for path in layouts:
            keep(0, path, {"status": "ok", "message": "", "stlb_hits": 1, "stlb_misses": 2}, [], [])

    monkeypatch.setattr(runner, "_run", fake)
    monkeypatch.setattr(runner, "built", lambda *_: Path(__file__))
    argv = ["--trace", trace, "--platform", "haswell-sim", "--layouts", layout, "--engine", "partial"]
    for change, rest in ((), ""), (("--set", "tlb.stlb.entries=2048"), "set: tlb.stlb.entries=2048"):
        done = CliRunner().invoke(simulate, [*map(str, argv), "--out", str(tmp_path / "cells.csv"), *change])
        assert done.exit_code == 0, done.output
        assert (note_sentence(note) in done.stderr) if note else ("thread" not in done.stderr)
        (message,) = read_cells(tmp_path / "cells.csv")["message"]
        assert message == joined_notes(note, rest)


def test_other_commands_print_the_sentence_for_a_trace_and_for_its_info(tmp_path, capsys):
    say_trace_notes(write_trace(tmp_path / "one.tst", 1))
    say_trace_notes(None)
    assert capsys.readouterr().err == ""
    say_trace_notes(write_trace(tmp_path / "t.tst", 8, "thread=3 125 1000\n"))
    assert note_sentence(FULL) in capsys.readouterr().err
    (tmp_path / "info.json").write_text('{"workload": "w", "threads": 8}')
    say_trace_notes(tmp_path / "info.json")
    assert note_sentence(BARE) in capsys.readouterr().err


def samples(note: str) -> pd.DataFrame:
    names = [f"growing-{i}" for i in range(9)]
    return pd.DataFrame(
        {"layout": names, "status": "ok", "message": note, "runtime_cycles": [100.0 - i for i in range(9)],
         "stlb_hits": range(9), "stlb_misses": range(20, 11, -1), "walk_cycles": range(50, 41, -1)}
    )  # fmt: skip


@pytest.mark.parametrize("note", ["", FULL])
def test_a_fit_and_a_prediction_have_the_note(tmp_path, note):
    from tessera.cli.models import models
    from tessera.cli.predict import predict

    samples(joined_notes(note, "set: a=1")).to_csv(tmp_path / "s.csv", index=False)
    fit = ["fit", "--samples", str(tmp_path / "s.csv"), "--out", str(tmp_path / "fit"), "--model", "yaniv"]
    done = CliRunner().invoke(models, fit)
    assert done.exit_code == 0 and (FULL in done.stderr) == bool(note)
    assert (FULL in (tmp_path / "fit" / "fit.json").read_text()) == bool(note)
    point = ["--point", "1,15,45", "--formula", "yaniv"]
    stored = ["--fit", str(tmp_path / "fit"), *point]
    for form in ([], ["--json"]):
        done = CliRunner().invoke(predict, [*stored, *form])
        assert done.exit_code == 0 and (FULL in done.stderr) == bool(note)
    assert (FULL in done.stdout) == bool(note)
    words = ["--samples", str(tmp_path / "s.csv"), "--counts", str(tmp_path / "s.csv")]
    done = CliRunner().invoke(predict, [*words, "--formula", "yaniv", "--out", str(tmp_path / "p.csv")])
    assert done.exit_code == 0 and (FULL in done.stderr) == bool(note)
    assert pd.read_csv(tmp_path / "p.csv")["message"].fillna("").str.contains(BARE).all() == bool(note)
    done = CliRunner().invoke(predict, words)  # 9 layouts are too few for an answer
    assert done.exit_code == 3 and (FULL in done.stderr) == bool(note)
