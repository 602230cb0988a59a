"""The commands: what they print and write, and their exit status."""

import csv
import hashlib

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.measure.bundles import archive, file_format
from tests.bundles.processor import Plan, made, opened, put

PLAN = Plan(layouts=("growing-0", "growing-8"))


def run(*words):
    """(exit status, output); a TesseraError has its own status, as in `tessera.cli.main.main`."""
    done = CliRunner().invoke(cli, ["measure", "bundle", *map(str, words)])
    if isinstance(done.exception, TesseraError):
        return done.exception.exit_code, str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


@pytest.fixture
def folder(tmp_path):
    put(made(PLAN).files, tmp_path / "b")
    return tmp_path / "b"


def test_verify(folder, tmp_path):
    status, output = run("verify", folder, "--out", tmp_path / "checks.csv")
    assert status == 0 and "FAIL" not in output and output.count("PASS") == 20
    with (tmp_path / "checks.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["result"] for row in rows} == {"PASS"} and len(rows) == 20
    (folder / file_format.CELLS_FILE).write_text(
        (folder / file_format.CELLS_FILE).read_text().replace("measured", "simulated")
    )
    status, output = run("verify", folder, "--out", tmp_path / "checks.csv")
    assert status == 1 and "FAIL" in output
    with (tmp_path / "checks.csv").open() as stream:
        failed = {row["check"]: row["reason"] for row in csv.DictReader(stream) if row["result"] == "FAIL"}
    assert set(failed) == {"sums", "cells"}
    assert "line 2" in failed["cells"] and "runtime_provenance" in failed["cells"]
    assert run("verify", tmp_path / "nothing")[0] == 2


def test_verify_prints_what_bars(tmp_path):
    put(made(Plan(rehearsal=True, layouts=PLAN.layouts)).files, tmp_path / "b")
    status, output = run("verify", tmp_path / "b", "--out", tmp_path / "checks.csv")
    assert status == 0 and "rehearsal" in output
    assert "BARRED" in (tmp_path / "checks.csv").read_text()


def test_show_prints_every_text(folder):
    files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    status, output = run("show", folder)
    assert status == 0
    plain = " ".join(output.split())
    layouts = file_format.LAYOUTS_FOLDER
    tables = [name for name in files if name.endswith(".csv") and not name.startswith(layouts)]
    cells = {cell for name in tables
             for row in list(csv.reader(files[name].decode().splitlines()))[1:] for cell in row}  # fmt: skip
    cells |= {
        line.split(",")[1]
        for line in archive.unpack_counts(files[file_format.PACKED_FILE]).decode().splitlines()[1:]
    }
    texts = {" ".join(cell.split()) for cell in cells if not cell.replace(".", "").isdecimal()}
    assert len(texts) > 60
    assert {text for text in texts if text not in plain} == set()
    for text in ("GenuineIntel", "6.1.0-18-amd64", "Mitigation: PTI", "--size", "16GB", "0xb000040",
                 "gups-16gb", "growing-8", "as wanted", "0123456789abcdef" * 2, "2026-05-04"):  # fmt: skip
        assert text in plain


def test_a_text_that_someone_added_is_shown(tmp_path):
    files = dict(made(PLAN).files)
    files[file_format.MACHINE_FILE] = files[file_format.MACHINE_FILE].replace(
        b"Mitigation: PTI", b"Mitigation: by Bob"
    )
    files[file_format.SUMS_FILE] = archive.sums_text(files).encode()
    put(files, tmp_path / "b")
    assert "Bob" in run("show", tmp_path / "b")[1]


def test_merge(folder, tmp_path):
    files = dict(made(Plan(workloads=("chase",), layouts=PLAN.layouts), 1).files)
    put(files, tmp_path / "c")
    status, output = run("merge", folder, tmp_path / "c", "--out", tmp_path / "d")
    assert status == 0 and "20 runs" in output
    assert run("verify", tmp_path / "d")[0] == 0
    status, output = run("merge", folder, folder, "--out", tmp_path / "e")
    assert status == 2 and "gups-16gb" in output and not (tmp_path / "e").exists()


def test_a_part_that_fails_a_check_is_not_merged(folder, tmp_path):
    """Its sums would be written again, so nobody could see the change later."""
    files = dict(made(Plan(workloads=("chase",), layouts=PLAN.layouts), 1).files)
    files[file_format.CELLS_FILE] = files[file_format.CELLS_FILE].replace(b"measured", b"published")
    put(files, tmp_path / "c")
    status, output = run("merge", folder, tmp_path / "c", "--out", tmp_path / "d")
    assert status == 1 and "sums" in output and not (tmp_path / "d").exists()


def test_add_and_list(folder, tmp_path):
    into = tmp_path / "bundles"
    assert run("show", "--bundles", into)[0] == 2
    into.mkdir()
    status, output = run("show", "--bundles", into)
    assert status == 0 and "tessera measure bundle add" in output
    status, output = run("add", folder, "--bundles", into)
    digest = hashlib.sha256((folder / file_format.SUMS_FILE).read_bytes()).hexdigest()[:8]
    name = f"broadwell-01234567-{digest}"
    assert status == 0 and name in output
    assert run("verify", into / name)[0] == 0
    assert run("add", folder, "--bundles", into)[0] == 1
    (into / "index.csv").write_text(f"id,doi,sha256\nskylake-00000000-11111111,10.5281/zenodo.1,{'a' * 64}\n")
    status, output = run("show", "--bundles", into)
    assert status == 0 and name in output and "https://doi.org/10.5281/zenodo.1" in output


def test_what_is_not_added(folder, tmp_path):
    into = tmp_path / "bundles"
    put(made(Plan(rehearsal=True, layouts=PLAN.layouts)).files, tmp_path / "rehearsal")
    assert run("add", tmp_path / "rehearsal", "--bundles", into)[0] == 1
    put(opened(PLAN).files, tmp_path / "open")
    status, output = run("add", tmp_path / "open", "--bundles", into)
    assert status == 1 and "sums" in output
    assert run("add", folder, "--bundles", into)[0] == 0
    # the same runs, sealed again under another day
    files = dict(made(PLAN).files)
    files[file_format.ABOUT_FILE] = files[file_format.ABOUT_FILE].replace(b"2026-05-04", b"2026-05-03")
    files[file_format.SUMS_FILE] = archive.sums_text(files).encode()
    put(files, tmp_path / "again")
    status, output = run("add", tmp_path / "again", "--bundles", into)
    assert status == 1 and "broadwell-01234567" in output
    assert len(list(into.iterdir())) == 1


@pytest.mark.parametrize("text", [
    "name,doi,sha256\n", "id,doi,sha256\na,10.1/x\n", "id,doi,sha256\na,http://x," + "a" * 64 + "\n",
    "id,doi,sha256\na,10.5281/x,abc\n", "id,doi,sha256\n" + 2 * ("a,10.5281/x," + "a" * 64 + "\n"), "\xff",
])  # fmt: skip
def test_a_wrong_index(tmp_path, text):
    (tmp_path / "index.csv").write_bytes(text.encode("latin-1"))
    status, output = run("show", "--bundles", tmp_path)
    assert status == 2 and "index.csv" in output
