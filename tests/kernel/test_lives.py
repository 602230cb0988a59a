"""Random lives of page tables: the program repeats itself and sees wrong data; what the study counts."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel import image, lives
from tessera.lab.kernel.guest import GuestRun
from tessera.lab.kernel.source import kernel_folder
from tessera.lab.study import Run, run_study

SEEDS = range(1, 6)
#: In place of the C library's: data that are paged out are lost.
LOSES_DATA = """#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int madvise(void *start, size_t bytes, int advice)
{ return syscall(SYS_madvise, start, bytes, advice == 21 ? MADV_DONTNEED : advice); }
"""
#: In place of the C library's: memory that was protected against writing keeps its right.
KEEPS_RIGHT = """#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int mprotect(void *start, size_t bytes, int rights)
{ return syscall(SYS_mprotect, start, bytes, bytes > 262144 && rights == PROT_READ ? 3 : rights); }
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compiles the program, with a replacement of a function of the C library."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc on this machine")
    folder = tmp_path_factory.mktemp("lives")

    def compile_with(name, text=""):
        more = []
        if text:
            more = [folder / f"{name}.c"]
            more[0].write_text(text)
        sources = sorted((kernel_folder() / "lives").glob("*.c"))
        argv = ["gcc", "-std=gnu11", "-O2", "-static", "-o", folder / name, *sources, *more]
        subprocess.run(argv, check=True, capture_output=True)
        return folder / name

    return compile_with


@pytest.fixture(scope="module")
def program(compiled):
    return compiled("lives-whole")


def live(program, seed, operations, mode="plain"):
    """A life here. LIVES_LOOSE: a real processor sets accessed bits of pages that it only guesses."""
    environment = os.environ | {"LIVES_LOOSE": "1"}
    done = subprocess.run(
        [program, str(seed), str(operations), mode],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    if "personality" in done.stdout or "memfd" in done.stderr:
        pytest.skip(f"not on this machine: {done.stdout[-200:]}")
    return done


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_gives_one_life(program, seed):
    for _ in range(3):  # reclaim and compaction of this machine may move or discard pages of one of them
        one, other = live(program, seed, 100), live(program, seed, 100)
        if one.stdout == other.stdout:
            break
    assert one.returncode == 0, one.stdout[-500:]
    assert one.stdout == other.stdout
    assert one.stdout.startswith(f"life of seed {seed}:") and f"\nend of seed {seed}: 100" in one.stdout
    assert one.stdout.count("digest of a block") == 12


def test_seeds_differ(program):
    assert len({live(program, seed, 20).stdout.split("\n", 1)[1] for seed in SEEDS}) == len(SEEDS)


def operations_of(text):
    """Lines of the first process's operations."""
    return [line for line in text.splitlines() if line.startswith("op 0.")]


def test_a_short_life_is_the_begin_of_a_long_one(program):
    short, long = (operations_of(live(program, 3, number).stdout) for number in (30, 60))
    assert 20 < len(short) < len(long) and long[: len(short)] == short


@pytest.mark.parametrize(
    ("fault", "found"), [(LOSES_DATA, "WRONG region"), (KEEPS_RIGHT, "no fault of a write on")]
)
def test_lost_data_and_kept_rights_are_found(compiled, fault, found):
    broken = compiled("lives-broken", fault)
    failed = [done for seed in range(1, 9) if (done := live(broken, seed, 100)).returncode]
    assert failed and any(found in done.stdout for done in failed)
    assert all("\nFAILED seed" in done.stdout and done.returncode == 1 for done in failed)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "usage: lives SEED"),
        (("1", "5", "sideways"), "no such mode"),
        (("1", "5", "replicated"), "boot a kernel"),
    ],
)
def test_wrong_words(program, words, message):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    assert done.returncode == 2 and message in done.stderr


# The study, with guests that are played here.

PLAIN = "life of seed 1: bits 1\nop 0.0 map region 0\nbits 0 leaves=3\npagemap 0 present=3\n"
SAME = "life 1 plain same 120\nlife 1 replicated same 120\nlife 1 late same 120\n"


@pytest.fixture
def study(monkeypatch, tmp_path):
    """The study with these outputs: variant -> (status, stdout, plain lives, dmesg)."""

    def start(**runs):
        played = {"checked": (0, SAME, PLAIN, ""), "plain": (0, "life 1 plain same 120\n", PLAIN, "")} | runs

        def run(tools, program, script, out, **_):
            status, text, plain, dmesg = played[program]
            out.mkdir(parents=True)
            (out / "stdout").write_text(text)
            (out / "dmesg").write_text(dmesg)
            (out / "plain.gz").write_bytes(gzip.compress(plain.encode()))
            return GuestRun(status, out, "6.12", 5.0)

        monkeypatch.setattr(lives, "run_in_guest", run)
        monkeypatch.setattr(image, "guest_program", lambda variant, say, **_: variant)
        monkeypatch.setattr(image, "kernel_tools", lambda say: None)
        done = Run(tmp_path)
        run_study(lives.lives, done, {"seconds": 10})
        return pd.read_csv(tmp_path / "lives.csv", index_col="mode"), done.wrong

    return start


def test_equal_lives(study):
    table, wrong = study()
    assert wrong == [] and table.differences.sum() == 0
    assert dict(table.lives) == {"plain": 1, "replicated": 1, "late": 1, "unpatched": 1}
    assert table.operations.sum() == 480


def test_a_difference_is_named_with_its_command(study):
    text = SAME + "life 2 plain same 90\nlife 2 late bits 90\nreproduce: lives 2 17 late: bits\n"
    table, wrong = study(checked=(1, text, PLAIN, ""))
    assert table.differences["late"] == 1 and table.differences.sum() == 1
    assert wrong == ["seed 2, late: bits differ: lives 2 100 late", "reproduce: lives 2 17 late: bits"]


def test_what_reclaim_disturbed_is_counted_apart(study):
    table, wrong = study(checked=(0, SAME + "life 2 plain same 90\nlife 2 late disturbed 90\n", PLAIN, ""))
    assert wrong == [] and table.disturbed["late"] == 1


def test_the_unpatched_kernel_counts_without_bits(study):
    table, wrong = study(plain=(0, "life 1 plain same 120\n", PLAIN.replace("bits 0 leaves=3\n", ""), ""))
    assert wrong == []
    assert table.differences["unpatched"] == 0


def test_another_entry_on_the_unpatched_kernel(study):
    table, wrong = study(plain=(0, "life 1 plain same 120\n", PLAIN.replace("present=3", "present=2"), ""))
    assert table.differences["unpatched"] == 1
    assert "after op 0.0 map region 0" in wrong[0] and "present=2" in wrong[0]


def test_what_the_kernel_says_counts(study):
    _, wrong = study(checked=(0, SAME + "differences 2\n", PLAIN, "WARNING: CPU: 1 at x\n"))
    assert wrong == ["checked: kernel: WARNING: CPU: 1 at x", "differences 2"]


@pytest.mark.parametrize("status", [0, 1, 2])
def test_no_life_is_an_error(study, status):
    with pytest.raises(TesseraError):
        study(checked=(status, "", PLAIN, ""))
