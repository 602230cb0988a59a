"""Every command that reads or writes files, with files that are not what it wants: no traceback."""

import sys
from itertools import product
from pathlib import Path

import pytest

from tessera.cli.main import main
from tessera.core.files import build_dir

ROOT = Path(__file__).resolve().parents[2]
CELLS = ROOT / "notebooks" / "data" / "cells.csv"
PAIR = "gups-8gb,sandybridge-sim,"
DESIGN = next((ROOT / "notebooks" / "data" / "designs").rglob("*.csv"))

#: {in} is the hostile file; {out} a file that can be written, {tree} a folder that can.
INPUTS = (
    "measure bundle add {in} --bundles {tree}",
    "measure bundle fetch 10.5281/zenodo.1 --bundles {in}",
    "measure bundle show --bundles {in}",
    "measure bundle merge {in} {in} --out {tree}",
    "measure bundle show {in}",
    "measure bundle verify {in} --out {out}",
    "workload data verify {in}",
    "measure clock --workload gups --size tiny --layouts {in} --out {out}",
    "lab kernel outcomes {in}",
    "lab run ablations platform=haswell-sim trace={in} manifest={in} --out {out}",
    "lab run designs platform=haswell-sim trace={in} --out {tree}",
    "lab run sampling platform=haswell-sim trace={in} manifest={in} --out {out}",
    "lab run scenarios platform=haswell-sim trace={in} --out {tree}",
    "lab run sweep platform=haswell-sim trace={in} manifest={in} --out {out}",
    "lab run transfer platform=haswell-sim trace={in} manifest={in} --out {tree}",
    "lab run transfer-verdicts parts={in} --out {tree}",
    "lab run virtuoso platform=haswell-sim trace={in} --out {tree}",
    "lab run virtuoso-judge tables={in} --out {tree}",
    "lab run walk-cost lower={in} upper={in} --out {out}",
    "lab run window accesses=5 trace={in} --out {out}",
    "lab run clock platform={in} calibrated={out} --out {tree}",
    "lab run energy cells={in} --out {tree}",
    "lab run explain-chase chase={in} platform={small} calibrated={out} --out {tree}",
    "lab run invariants results={in} --out {out}",
    "lab run mosaics comparison={in} simulated={small} findings={in} --out {out}",
    "lab run threads-fit runs={in} --out {out}",
    "lab run threads-sweep trace={in} platform=haswell-sim --out {out}",
    "layouts check {in}",
    "layouts generate --platform haswell-sim --trace {in} --out {tree}",
    "measure import --class broadwell --workload w --mode u --out {out} {in}",
    "measure import --class broadwell --workload w --mode u --out {out} --table {in}",
    "models adaptive --samples {in} --out {out}",
    "models collect {in} --out {out}",
    "models show --fit {in}",
    "models fit --samples {in} --out {tree}",
    "models protocols --samples {in} --out {tree}",
    "models versions {in}",
    "mosalloc check {in}",
    "mosalloc reserve --layout {in}",
    "mosalloc run --layout {in} -- true",
    "mosalloc analyze --layout {in} --out {out} -- true",
    "dev notebooks archive --results {in} --out {tree}",
    "lab run numa-arithmetic source={in} --out {out}",
    "lab run numa-bars source={in} --out {out}",
    "lab run numa-defects source={in} --out {out}",
    "lab numa predict --cells {in} --workload w --platform haswell-4s-sim",
    "dev package verify {in}",
    "lab kernel pagetables-show {in}",
    "dev step accept bundle={in} --out {out}",
    "dev step adaptive seeds=1 cells={in} --out {tree}",
    "dev step cells trace={in} manifest={in} platform={in} cache={tree} engine=partial sampling=full"
    " --out {out}",
    "dev step concat cells={in} --out {out}",
    "dev step layouts trace={in} platform={in} seed=1 random_count=9 --out {out}",
    "dev step one-gb cells={in} --out {tree}",
    "dev step select manifest={in} names=1gb --out {out}",
    "platform check {in}",
    "platform show {in}",
    "predict --samples {in} --counts {design} --out {out}",
    "predict --samples {small} --counts {in} --out {out}",
    "predict --samples {small} --counts {in} --formula yaniv --out {out}",
    "predict --samples {small} --clock {in} --counts {design} --out {out}",
    "predict --fit {in} --formula yaniv --point 1,1,1",
    "predict --design {in} --results {tree} --workload w --platform haswell-sim",
    "predict --counts {design} --results {in} --workload w --platform haswell-sim",
    "dev reference compare --results {in}",
    "dev reference compare --results {tree} --from {in}",
    "report check --results {in}",
    "report figures --results {in} --out {tree}",
    "report render --results {in} --out {tree}",
    "simulate --trace {in} --platform haswell-sim --layouts {tree} --out {out}",
    "trace export {in} --out {out}",
    "trace import {in} --out {out}",
    "trace info {in}",
    "trace info {in} --json",
    "trace switch {in} on",
    "trace info {in} --events",
    "workload show {in}",
)  # fmt: skip


#: What is right all the same: a switch file is made; a folder of results or bundles may still be empty.
FINE = {
    ("measure bundle show --bundles {in}", "folder"),
    ("trace switch {in} on", "missing"),
    ("trace switch {in} on", "dangling link"),
    ("dev reference compare --results {in}", "folder"),
    ("report figures --results {in} --out {tree}", "folder"),
    ("dev step concat cells={small} --out {out}", "folder"),  # a folder gets the table
}

#: Renders a whole report of nothing.
SLOW = {("report render --results {in} --out {tree}", "folder")}

#: Steps of the workflow that write down what failed and let the rest go on.
NOTED = ("dev step adaptive seeds=1 cells={in} --out {tree}", "dev step one-gb cells={in} --out {tree}")

#: {out} is the hostile file.
OUTPUTS = (
    "dev step concat cells={small} --out {out}",
    "predict --samples {small} --counts {design} --formula yaniv --out {out}",
    "predict --samples {small} --counts {design} --out {out}",
    "trace import {records} --out {out}",
    "trace record --out {out} -- true",
)


def hostile(folder, kind):
    path = folder / "hostile.csv"
    if kind == "folder":
        path.mkdir()
    elif kind == "no text":
        path.write_bytes(b"workload,\xff\xfe\x00\n\x80")
    elif kind == "empty":
        path.touch()
    elif kind == "dangling link":
        path.symlink_to("nowhere")
    elif kind == "below a file":
        path.write_text("a file")
        path = path / "x.csv"
    elif kind == "long name":
        path = folder / ("n" * 300)
    return path


def small_cells(folder):
    """Cells of one pair."""
    lines = CELLS.read_text().splitlines(keepends=True)
    path = folder / "small.csv"
    path.write_text("".join(lines[:1] + [row for row in lines if row.startswith(PAIR)]))
    return path


KINDS = ("missing", "folder", "no text", "empty", "dangling link", "below a file", "long name")


def unwritable(folder, kind):
    path = folder / "hostile.csv"
    if kind == "folder":
        path.mkdir()
    elif kind == "below a file":
        path.write_text("a file")
        path = path / "x.csv"
    return {"device": Path("/dev/full"), "no folder": Path("/proc/tessera/x.csv")}.get(kind, path)


def needs_tracer(line):
    if line.startswith("trace ") and not (build_dir("tracer") / "tessera-trace").exists():
        pytest.skip("tracer is not built: ./run tessera dev build tracer")


def run(words, monkeypatch, capsys):
    """Exit status and all output of ``tessera words``; an exception that reaches the user is the test's."""
    monkeypatch.setattr(sys, "argv", ["tessera", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    return ended.value.code, said.out + said.err


@pytest.mark.parametrize(("line", "kind"), [case for case in product(INPUTS, KINDS) if case not in SLOW])
def test_a_hostile_input_is_named_and_refused(line, kind, tmp_path, monkeypatch, capsys):
    needs_tracer(line)
    path = hostile(tmp_path, kind)
    tree = tmp_path / "tree"
    tree.mkdir()
    places = {"in": path, "out": tmp_path / "out.csv", "tree": tree, "design": DESIGN}
    places["small"] = small_cells(tmp_path)
    status, said = run([word.format(**places) for word in line.split()], monkeypatch, capsys)
    assert "Traceback" not in said
    if (line, kind) in FINE:
        assert status == 0
        return
    assert status in ((0, 2) if line in NOTED else (1, 2)), said
    assert path.name[:50] in said or (path.is_dir() and "claims.csv" in said), said


@pytest.mark.parametrize("kind", ("folder", "below a file", "device", "no folder"))
@pytest.mark.parametrize("line", OUTPUTS)
def test_an_output_that_cannot_be_written_is_named_and_refused(line, kind, tmp_path, monkeypatch, capsys):
    needs_tracer(line)
    path = unwritable(tmp_path, kind)
    (tmp_path / "records").write_bytes((0x401000).to_bytes(8, "little").ljust(64, b"\0"))
    places = {"out": path, "design": DESIGN, "small": small_cells(tmp_path), "records": tmp_path / "records"}
    status, said = run([word.format(**places) for word in line.split()], monkeypatch, capsys)
    if (line, kind) in FINE:
        assert status == 0 and (path / "cells.csv").is_file(), said
        return
    assert status in (1, 2), said
    assert path.name in said and "Traceback" not in said
