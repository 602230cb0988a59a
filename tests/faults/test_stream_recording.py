"""The committed recording of Linux 6.12: against a plain reading, and against what the kernel must do."""

import csv
import json
import lzma
import os
import shutil
from collections import Counter

import pytest
from click.testing import CliRunner

from tessera.cli.lab.faults import faults
from tessera.core.errors import TesseraError
from tessera.lab.faults.recorded_faults import counts_of_fault, lines_by_structure, ordinary
from tessera.lab.faults.recorder import kinds_of, settings_text
from tessera.lab.faults.recording import COUNTS, DIRECT_MAP, FACTS, FAULTS, RECORDED, VMEMMAP, load_recording

KINDS = {
    "write-4kb", "read-zero", "write-zero", "read-file", "write-private", "write-cow", "write-reuse",
    "write-2mb",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(root):
    return root / RECORDED


@pytest.fixture(scope="module")
def recording(folder):
    return load_recording(folder)


def plainly(folder):
    """(kind, instructions, loads, stores, lines) of each chosen fault, read without the package."""
    kinds = json.loads((folder / FACTS).read_text())["kinds"]
    for block in lzma.decompress((folder / FAULTS).read_bytes()).decode().split("fault ")[1:]:
        head, *rows = block.strip().split("\n")
        instructions = loads = stores = 0
        touched = set()
        for row in rows:
            words = row.split(" ")
            if words[0] == "end":
                instructions += int(words[1])
            elif words[0] != "touch":
                instructions += int(words[0])
                stores += words[1] in "sS"
                loads += words[1] in "lL"
                for byte in range(int(words[4])):
                    touched.add((int(words[3], 16) + byte) // 64)
        yield kinds[head], instructions, loads, stores, len(touched)


def test_the_counts_are_those_of_a_plain_reading(folder, recording):
    plain = Counter(row for row in plainly(folder) if row[0] != "write-2mb")
    ours = Counter()
    for kind, chosen in recording.chosen.items():
        for one in chosen if kind != "write-2mb" else ():
            found = counts_of_fault(one, 0)
            ours[kind, found.instructions, found.loads, found.stores, found.lines] += 1
    assert ours == plain and sum(plain.values()) > 30


def test_every_chosen_fault_is_in_the_table_of_all(folder, recording):
    with (folder / COUNTS).open(newline="") as stream:
        names = ("instructions", "loads", "stores", "lines")
        rows = {(row["kind"], *(int(row[name]) for name in names)) for row in csv.DictReader(stream)}
    for kind, chosen in recording.chosen.items():
        for one in chosen:
            found = counts_of_fault(one, 0)
            assert (kind, found.instructions, found.loads, found.stores, found.lines) in rows


def test_the_recording_is_small_and_has_all_kinds(folder, recording):
    assert sum((folder / name).stat().st_size for name in (FACTS, FAULTS, COUNTS)) <= 300_000
    assert set(recording.chosen) == set(recording.counts) == KINDS
    assert recording.facts["kernel"].startswith("6.12")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_addresses_agree_with_the_map_of_memory(recording, kind):
    """A structure's page is that of the touch: struct page by arithmetic, the page in the direct map."""
    for one in recording.chosen[kind]:
        frame = one.touch[1] // 4096
        size = 512 if kind == "write-2mb" else 1
        first = frame // size * size
        for access in one.accesses:
            if access.structure == "struct page":
                assert 0 <= (access.virtual - VMEMMAP) // 64 - first < size
            if access.structure in ("page", "another page", "mm", "VMA"):
                assert access.virtual - DIRECT_MAP == access.physical


@pytest.mark.parametrize(
    ("kind", "structure", "lines"),
    [
        ("write-4kb", "page", (0, 64, 64)),  # cleared
        ("write-2mb", "page", (0, 32768, 32768)),
        ("write-cow", "page", (0, 64, 64)),  # copied
        ("write-cow", "another page", (64, 0, 64)),
        ("write-private", "another page", (64, 0, 64)),
        ("write-4kb", "page table 1", (1, 1, 1)),
        ("write-2mb", "page table 2", (1, 1, 1)),
    ],
)
def test_what_a_fault_must_access(recording, kind, structure, lines):
    """The whole page is written, the copied one is read, and the entry is set in the table of its level."""
    assert lines_by_structure(ordinary(recording.chosen[kind]))[structure] == lines


@pytest.mark.parametrize("kind", ["read-zero", "write-reuse", "read-file"])
def test_what_clears_no_page(recording, kind):
    stored = {
        name
        for name, (_, stores, _) in lines_by_structure(ordinary(recording.chosen[kind])).items()
        if stores
    }
    assert "page" not in stored and "page table 1" in stored


def test_at_most_one_line_of_an_ordinary_fault_has_no_structure(recording):
    for chosen in recording.chosen.values():
        found = lines_by_structure(ordinary(chosen))
        assert "" not in found and found.get("other", (0, 0, 0))[2] <= 1


def test_show(folder):
    shown = CliRunner().invoke(faults, ["stream", "show", "--recording", str(folder)])
    assert shown.exit_code == 0 and "LRU batch" in shown.output and "write-2mb" in shown.output
    shown = CliRunner().invoke(faults, ["stream", "show", "--recording", str(folder), "--fault", "write-4kb"])
    assert shown.exit_code == 0 and "page table 1" in shown.output
    wrong = CliRunner().invoke(faults, ["stream", "show", "--recording", str(folder), "--fault", "x"])
    assert isinstance(wrong.exception, TesseraError) and "write-4kb" in wrong.exception.remedy


def damage(name, change):
    def apply(folder):
        path = folder / name
        path.write_bytes(change(path.read_bytes()))

    return apply


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / COUNTS).unlink(),
        damage(FACTS, lambda data: data[:-9]),
        damage(FACTS, lambda data: data.replace(b'"kinds"', b'"sorts"')),
        damage(FAULTS, lambda data: data[:-40]),
        damage(FAULTS, lambda data: lzma.compress(b"tessera-fault-stream 1\nfault 1\ndrop x\n")),
        damage(
            FAULTS, lambda data: lzma.compress(b"tessera-fault-stream 1\nfault 1\nend 1 0 0\ntouch 1 1 1\n")
        ),
        damage(COUNTS, lambda data: data + b"write-4kb,1,x,1,1,1,1,1\n"),
        damage(COUNTS, lambda data: data + b"write-4kb,1\n"),
    ],
    ids=["missing", "json", "kinds", "xz", "dropped", "unknown", "letter", "short"],
)
def test_a_damaged_recording_is_named(folder, tmp_path, spoil):
    copy = tmp_path / "recording"
    shutil.copytree(folder, copy)
    spoil(copy)
    with pytest.raises(TesseraError) as error:
        load_recording(copy)
    assert str(copy) in error.value.asked


def test_the_settings_of_the_plugin(tmp_path):
    kernel = {
        "asm_exc_page_fault": 0x10, "native_irq_return_iret": 0x20, "__schedule": 0x30, "asm_exc_debug": 0x40,
        "asm_sysvec_x": 0x50, "irq_entries_start": 0x60, "asm_exc_divide_error": 0x70, "y": 1,
    }  # fmt: skip
    program = {"touches_begin": 0x100, "touches_end": 0x120, "touch_write_4kb": 0x100, "main": 0x90}
    lines = settings_text(kernel, program, tmp_path / "raw").splitlines()
    assert lines == [
        f"out {tmp_path / 'raw'}", "entry 10", "return 20", "schedule 30", "interrupt 40", "interrupt 70",
        "interrupt 50", "vectors 60 70", "touch 100 120",
    ]  # fmt: skip
    assert kinds_of(program) == {0x100: "write-4kb"}


@pytest.mark.skipif(
    os.environ.get("TESSERA_TEST_ORACLE") != "1", reason="TESSERA_TEST_ORACLE=1 boots the guest"
)
def test_the_guest_makes_the_recording_again(recording, tmp_path):
    from tessera.lab.faults.recorder import record_faults

    again = record_faults(tmp_path / "again", print)
    for kind in KINDS:
        assert ordinary(again.chosen[kind]).instructions == ordinary(recording.chosen[kind]).instructions
