"""`tessera mapping`: what it writes, what it prints, and requests that it refuses."""

from __future__ import annotations

import re
import shlex

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.core.mapping.kinds import KINDS
from tessera.core.mapping.mapping_file import read_mapping

from .page_by_page import chunks_of, pages_of


def tessera(*words):
    return CliRunner().invoke(cli, ["mapping", *map(str, words)])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "touches" not in KINDS[kind].uses])
def test_generate_and_show(tmp_path, kind):
    out, picture = tmp_path / "m.csv", tmp_path / "m.svg"
    done = tessera("generate", "--pool", "mmap=20MB", "--pool", "brk=1MB", "--kind", kind, "--out", out)
    assert done.exit_code == 0, done.output
    pages = pages_of(read_mapping(out).at(0))
    assert len(pages) == 21 * 256
    assert f"{len(pages)} pages" in done.output and f"{len(chunks_of(pages))} chunks" in done.output
    shown = tessera("show", out, "--picture", picture)
    assert shown.exit_code == 0, shown.output
    assert re.search(rf"chunks +{len(chunks_of(pages))}\n", shown.output)
    assert "anchor distance, count" in shown.output and "21MB" in shown.output
    assert "<svg" in picture.read_text()


def test_the_same_request_writes_the_same_bytes(tmp_path):
    words = ["generate", "--pool", "mmap=64MB", "--kind", "medium", "--out"]
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert tessera(*words, tmp_path / name, "--seed", seed).exit_code == 0
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c


def test_demand_takes_an_order_of_first_touches(tmp_path):
    touches, out = tmp_path / "touches.csv", tmp_path / "m.csv"
    touches.write_text("pool,page,access\nmmap,513,0\nmmap,1499,1\nmmap,3,2\nmmap,4,3\n")
    words = ["generate", "--pool", "mmap=6000KB", "--kind", "demand", "--touches", touches, "--out", out]
    done = tessera(*words, "--free", "9=1,0=50")
    assert done.exit_code == 0, done.output
    rows = read_mapping(out).at(0).tuples()
    assert [(page, pages, size) for _, page, _, pages, size in rows if size == "2MB"] == [(512, 512, "2MB")]
    assert sorted(page for page in pages_of(read_mapping(out).at(0)) if page[1] not in range(512, 1024)) == [
        ("mmap", 3),
        ("mmap", 4),
        ("mmap", 1499),
    ]
    assert "562 47" in done.output  # free frames: 512 + 50, and 3 single pages fewer
    assert re.search(r"0\.089 1\.000", done.output)


def test_show_follows_epochs(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("epoch,pool,page,frame,pages,page_size\n0,brk,0,0,8,4KB\n9,brk,4,,4,4KB\n")
    outputs = [tessera("show", path, "--access", access).output for access in (0, 8, 9)]
    assert outputs[0] == outputs[1] and "32KB" in outputs[0]
    assert "16KB" in outputs[2] and "access 9" in outputs[2]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["--kind", "low"], "--pool"),
        (["--kind", "low", "--pool", "mmap=1MB", "--trace", "t"], "--trace"),
        (["--kind", "huge", "--pool", "mmap=1MB"], "huge"),
        (["--kind", "low", "--pool", "mmap=1MB", "--alignment", "3"], "3"),
        (["--kind", "eager", "--pool", "mmap=1MB", "--free", "11=1"], "11=1"),
        (["--kind", "eager", "--pool", "mmap=1MB", "--free", "0=5"], "256"),
        (["--kind", "demand", "--pool", "mmap=1MB"], "--touches"),
        (["--kind", "low", "--trace", "none.tst"], "none.tst"),
        (["--kind", "low", "--pool", "mmap=1MB", "--seed", "-1"], "-1"),
    ],
)
def test_bad_requests_write_nothing(tmp_path, words, value):
    done = tessera("generate", *words, "--out", tmp_path / "m.csv")
    assert done.exit_code != 0 and isinstance(done.exception, (TesseraError, SystemExit))
    assert value in done.output + str(done.exception)
    assert not list(tmp_path.iterdir())


def test_options_of_the_other_kinds_are_refused(tmp_path):
    (tmp_path / "x").write_text("pool,page,access\n")
    for words in (
        ["max", "--free", "10=9"],
        ["low", "--touches", str(tmp_path / "x")],
        ["eager", "--alignment", "8"],
    ):
        done = tessera("generate", "--pool", "mmap=1MB", "--kind", *words, "--out", tmp_path / "m.csv")
        assert done.exit_code != 0 and f"{words[0]} with {words[1]}" in str(done.exception)


def test_help_has_examples_that_run(tmp_path):
    for command in ("generate", "show", "compose"):
        text = tessera(command, "--help").output
        examples = [line.strip() for line in text.splitlines() if line.strip().startswith("./run tessera")]
        assert examples
        if command == "show":
            tessera("generate", "--pool", "mmap=1MB", "--kind", "low", "--out", tmp_path / "medium.csv")
        for line in examples:
            if ".tst" in line:
                continue
            words = shlex.split(line.replace("/tmp/", f"{tmp_path}/"))[2:]
            done = CliRunner().invoke(cli, words)
            assert done.exit_code == 0, f"{line}\n{done.output}\n{done.exception}"
