"""The file of templates for the simulator: instructions of the recording, accesses by what they move with."""

import re
from collections import Counter

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.faults import weave
from tessera.lab.faults.recorded_faults import Access, Fault, ordinary
from tessera.lab.faults.recording import RECORDED, RecordedFaults, load_recording

STEP = re.compile(r"\d+ [lsLS] [a-z0-9-]+ [0-9a-f]+ \d+")


@pytest.fixture(scope="module")
def recording(root):
    return load_recording(root / RECORDED)


@pytest.fixture(scope="module")
def templates(recording):
    """(kind, tables, batch) -> words of the lines of a template."""
    head, kernel, *rest = weave.template_lines(recording)
    assert head == weave.TEMPLATES_HEAD and kernel == "kernel 6.12.117"
    found = {}
    for line in rest:
        words = line.split()
        if words[0] == "template":
            now = found.setdefault((words[1], int(words[2]), int(words[3])), [])
        else:
            assert STEP.fullmatch(line) or words[0] == "end"
            now.append(words)
    return found


def instructions(lines):
    return sum(int(words[1] if words[0] == "end" else words[0]) for words in lines)


def test_ordinary_faults_have_the_instructions_of_the_recording(recording, templates):
    for kind, chosen in recording.chosen.items():
        assert instructions(templates[kind, 0, 0]) == ordinary(chosen).instructions
        assert len(templates[kind, 0, 0]) == len(ordinary(chosen).accesses) + 1


def test_faults_with_tables_and_batches_are_templates_of_their_own(templates):
    assert instructions(templates["read-zero", 1, 0]) == 1766
    assert instructions(templates["write-4kb", 0, 1]) > 5 * instructions(templates["write-4kb", 0, 0])
    assert {kind for kind, _, batch in templates if batch} == {
        "write-4kb", "write-zero", "write-private", "write-cow"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "base", "stores"),
    [("write-4kb", "entry-1", 1), ("read-file", "around", 16), ("write-2mb", "entry-2", 1)],
)
def test_a_fault_stores_the_entries_of_what_it_maps(templates, kind, base, stores):
    assert sum(words[1] == "s" and words[2] == base for words in templates[kind, 0, 0]) == stores


def test_a_page_is_cleared_whole(templates):
    for kind, bytes_ in (("write-4kb", 4096), ("write-2mb", 2 << 20)):
        cleared = [words for words in templates[kind, 0, 0] if words[1:3] == ["S", "page"]]
        assert sum(int(words[4]) for words in cleared) == bytes_


def test_the_allocation_of_a_table_clears_it_and_stores_its_entry(recording, templates):
    """It has as many accesses as the fault with a table has more than the one without."""
    steps = templates["table", 1, 0]
    assert len(steps) - 1 == 760 - 405
    bases = Counter((words[1], words[2]) for words in steps if words[0] != "end")
    assert bases["S", "new-table"] == 1 and bases["s", "parent"] == 1


def test_what_is_inserted_is_found_by_the_accesses_around_it():
    """By hand: `b c` were inserted between the first and the second of three accesses."""

    def access(name):
        return Access(1, False, False, 0, 0, 8, name)

    longer, shorter = [access(name) for name in "abcxy"], [access(name) for name in "axy"]
    assert weave.inserted(longer, shorter) == (1, 3)
    assert weave.inserted(shorter + [access("z")], shorter) == (3, 4)
    assert weave.inserted([access("z"), *shorter], shorter) == (0, 1)


def test_a_recording_without_tables_is_named():
    fault = Fault(1, (Access(1, True, False, 0, 0, 8, "stack"),), 0, 0, 0, (4096, 8192))
    with pytest.raises(TesseraError) as error:
        list(weave.template_lines(RecordedFaults({"kernel": "6.12.1"}, {"read-zero": [fault]}, {})))
    assert error.value.code == "no-table" and "read-zero" in str(error.value)
