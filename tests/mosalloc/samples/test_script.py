"""The parser of ``perf script``: recorded texts, written texts, lines made from numbers, and any text."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_2MB
from tessera.measure.suggest.perf_script import (
    TLB_HIT,
    TLB_MISSED,
    TLB_UNKNOWN,
    Sample,
    parse_line,
    parse_samples,
    read_perf_samples,
    read_recorded_pools,
    tlb_outcome,
)
from tessera.measure.suggest.sample_weights import weigh

from .builders import FORMS, IBS_HIT, LOAD_HIT, LOAD_MISSED, NOTHING, SCRIPTS, STORE_MISSED, line

RECORDED = SCRIPTS / "recorded-6.1-faults.json"
#: Seconds of random input; 600 were run once.
FUZZ_SECONDS = float(os.environ.get("TESSERA_FUZZ_SECONDS", "10"))


@pytest.mark.parametrize("fields", ["addr", "source", "pid"])
def test_a_recorded_run(fields):
    """1024 faults in each 2MB of the 4MB array, sampled one in 7: 146 or 147 (README of the folder)."""
    place = read_recorded_pools(RECORDED)
    samples = read_perf_samples(SCRIPTS / f"recorded-6.1-faults-{fields}.txt")
    assert len(samples) == 335 and {s.period for s in samples} == {7}
    assert {s.event for s in samples} == {"page-faults"}
    assert {s.source for s in samples} == ({0x1E05080021} if fields == "source" else {None})
    base, size = place.bases["mmap"]
    inside = [s.address - base for s in samples if s.pid == place.pid and base <= s.address < base + size]
    counts = Counter(offset // PAGE_2MB for offset in inside)
    assert set(counts) == {0, 1} and all(abs(count - 1024 / 7) < 1 for count in counts.values())
    assert sum(weight for _, weight in weigh(samples, place.pid, faults=True).misses) == 7 * 319


def test_faults_are_no_misses():
    with pytest.raises(TesseraError, match="line 1: page faults") as error:
        weigh(read_perf_samples(SCRIPTS / "recorded-6.1-faults-addr.txt"), 1)
    assert error.value.code == "samples-of-faults"


@pytest.mark.parametrize(
    "name, pid, misses, seen",
    [
        ("4.15-broadwell", 1234, {0x10000200040: 997, 0x100003FFFFF: 997, 0xFFFF880000001000: 997}, 3),
        # 3 x 997 misses of loads at two addresses; 997 of stores at one
        ("4.15-sandybridge", 1234, {0x10000200040: 1495.5, 0x10000400000: 1495.5, 0x10000400040: 997}, 8),
        ("6.1-zen3", 1234, {0x10000200040: 98416, 0x10000400000: 98416}, 4),
        ("6.12-goldencove", 1234, {0x10000200040: 997, 0x10000400000: 997}, 2),
        # periods of a frequency; the sample of mem-loads-aux and the other process do not count
        ("6.5-alderlake", 1234, {0x10000200040: 7, 0x10000400000: 81, 0x10000400040: 11}, 5),
        # misses of both types of cores add up
        ("6.13-hybrid-misses", 1234, {0x10000200040: 2 * 997, 0x10000400000: 997}, 3),
    ],
)
def test_written_forms(name, pid, misses, seen):
    found = weigh(read_perf_samples(SCRIPTS / f"written-{name}.txt"), pid)
    added: dict[int, float] = {}
    for address, weight in found.misses:
        added[address] = added.get(address, 0) + weight
    assert added == misses and found.seen == seen and not _without_scale(found.notes)


def _without_scale(notes):
    """Accesses of loads and of stores, as ``perf mem record`` samples them, have scales of their own."""
    return [note for note in notes if "scales of their own" not in note]


def test_accesses_of_two_types_of_cores_do_not_add_up():
    samples = read_perf_samples(SCRIPTS / "written-6.13-hybrid-accesses.txt")
    with pytest.raises(TesseraError, match="cpu_atom and cpu_core") as error:
        weigh(samples, 1234)
    assert error.value.code == "samples-of-two-cores"
    assert "grep 'cpu_core/' samples.txt" in error.value.remedy  # 2 of 3 samples
    kept = weigh([sample for sample in samples if "cpu_core/" in sample.event], 1234)
    assert kept.misses == ((0x10000400000, 81),) and kept.cores == ("cpu_core",)
    # the other process may run where it likes
    assert weigh([*samples[:2], replace(samples[2], pid=1)], 1234).misses == kept.misses


@pytest.mark.parametrize(
    "text",
    [
        "no samples",
        "12348 r11d0:pp: 10",
        "1 2 r11d0:pp:",
        "1/1 2 r11d0:pp 10",
        "-2/1 2 r11d0:pp: 10",
        "1/1 -2 r11d0:pp: 10",
        "1/1 2 r11d0:pp: 10g",
        "1/1 2 r11d0:pp: 0x10",
        "1/1 2 r11d0:pp: 12345678901234567",
        "1/1 2 r11d0:pp: 10 68100142",
        "\u0661/1 2 r11d0:pp: 10",
        "1/1 2 " + "r" * 2000 + ": 10",
        line("ibs_op//", 1, (LOAD_HIT[0], LOAD_MISSED[1])),
        line("ibs_op//", 1, (LOAD_MISSED[0], NOTHING[1])),
        line("ibs_op//", 1, (NOTHING[0], IBS_HIT[1])),
        line("ibs_op//", 1, (LOAD_MISSED[0], "|OP LOAD")),
    ],
)
def test_other_lines_are_errors_with_their_number(text):
    with pytest.raises(TesseraError, match="perf script, line 2") as error:
        list(parse_samples([line("ibs_op//", 1, LOAD_MISSED), text]))
    assert error.value.code == "samples-row"


def test_words_that_perf_cut_do_not_matter():
    """perf's buffer holds 99 characters; what is left is no contradiction."""
    words = "|OP LOAD|LVL " + " or ".join(["Remote RAM (2 hops)"] * 4)
    assert len(words[:99]) == 99
    assert parse_line("x", 1, line("ibs_op//", 1, (LOAD_MISSED[0], words[:99]))).source == LOAD_MISSED[0]


@pytest.mark.parametrize(
    "text, reason",
    [
        (
            "Samples for 'r11d0' event do not have DATA_SRC attribute set. Cannot print 'data_src' field.",
            "-d",
        ),
        (
            "   gups 2598 48743.158006:    7 page-faults:  7f4dcbb74a13 _dl_start+0x2a3 (/lib/ld)",
            "default fields",
        ),
    ],
)
def test_usual_mistakes_are_named(text, reason):
    with pytest.raises(TesseraError, match=reason):
        list(parse_samples([text]))


@pytest.mark.parametrize(
    "content, code",
    [
        (b"", "samples-empty"),
        (b"\n# x\n", "samples-empty"),
        (b"PERFILE2\x68", "samples-row"),
        (b"\xff", "samples-row"),
    ],
)
def test_files_without_samples(tmp_path, content, code):
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(TesseraError) as error:
        read_perf_samples(tmp_path / "s")
    assert error.value.code == code
    with pytest.raises(TesseraError):
        read_perf_samples(tmp_path / "none")


@pytest.mark.parametrize(
    "source, expected",
    [
        (LOAD_MISSED[0], TLB_MISSED), (LOAD_HIT[0], TLB_HIT), (STORE_MISSED[0], TLB_MISSED),
        (IBS_HIT[0], TLB_HIT), (NOTHING[0], TLB_UNKNOWN), (0, TLB_UNKNOWN),
        (0x8688000842, TLB_MISSED),  # "Walker hit": a walk was needed
        ((4 | 8) << 26, TLB_UNKNOWN),  # L1 missed, and the last level is not named
        (4 << 26, TLB_MISSED), ((4 | 64) << 26, TLB_MISSED),
    ],
)  # fmt: skip
def test_what_data_src_says_about_the_tlb(source, expected):
    assert tlb_outcome(source) == expected


EVENTS = [
    "r11d0:pp",
    "cpu/event=0xd0,umask=0x11/pp",
    "ibs_op//",
    "cpu_core/mem-loads,ldlat=30/P",
    "page-faults:u",
]
SOURCES = [None, LOAD_MISSED, LOAD_HIT, STORE_MISSED, IBS_HIT, NOTHING]
NUMBERS = st.integers(0, 2**32 - 1)


@given(
    NUMBERS, st.integers(0, 2**63), st.sampled_from(EVENTS), st.integers(0, 2**64 - 1),
    st.sampled_from(SOURCES), st.sampled_from([5, 7, 10]),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_what_perf_prints_comes_back(pid, period, event, address, source, width):
    text = line(event, address, source, pid=pid, period=period, width=width)
    found = parse_line("x", 7, text + "  ")
    assert found == Sample(7, pid, period, event, address, source and source[0])


def test_any_text_is_samples_or_an_error(tmp_path):
    """Ten seconds of random bytes, of random pieces, and of good lines with random changes."""
    rng = random.Random(1)
    good = [text for form in FORMS.values() for text in form([0x7F3D_0000_0040, 0xFFFF_8800_0000_0000], rng)]
    for name in ("4.15-sandybridge", "6.5-alderlake", "6.13-hybrid-accesses"):
        good += (SCRIPTS / f"written-{name}.txt").read_text().splitlines()
    pieces = [
        *" /:|#\n\t\r\x00\u0661",
        "997",
        "r11d0:pp:",
        "ibs_op//:",
        "|TLB L2 miss|",
        "1e05080021",
        "-1/-1",
        "0" * 400,
    ]
    until, rounds, parsed = time.monotonic() + FUZZ_SECONDS, 0, 0
    while time.monotonic() < until or rounds < 1000:
        rounds += 1
        choice = rng.randrange(3)
        if choice == 0:
            data = rng.randbytes(rng.randrange(200))
        elif choice == 1:
            data = "".join(rng.choice(pieces) for _ in range(rng.randrange(40))).encode()
        else:
            data = bytearray("\n".join(rng.choices(good, k=3)).encode())
            for _ in range(rng.randrange(3)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            # as read_samples, without the file
            samples = list(parse_samples(bytes(data).decode().split("\n"), "fuzz"))
            parsed += 1
            misses = weigh(samples, rng.choice(samples).pid if samples else 1).misses
        except (TesseraError, UnicodeDecodeError):
            continue
        assert misses and all(0 <= address < 2**64 and weight >= 0 for address, weight in misses)
    assert parsed > rounds / 10  # the generator reaches behind the parser
