"""What a machine lacks is named by a code, from copies of the kernel's files."""

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.faults.measured import SPARE_BYTES, THP, processor_of, read_environment, require
from tessera.machine.environment.condition import SystemFiles

MB = 1 << 20
GOVERNOR = "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"
FILES = {
    "proc/cpuinfo": "model name\t: Some CPU\nflags\t\t: fpu constant_tsc nonstop_tsc hypervisor\n\nx\n",
    "proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 1048576 kB\n",
    "proc/sys/kernel/osrelease": "6.12.0\n",
    THP: "always [madvise] never\n",
    GOVERNOR: "performance\n",
}


def tree(tmp_path, **changed):
    for name, text in {**FILES, **{key.replace("__", "/"): value for key, value in changed.items()}}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            path.write_text(text)
    return SystemFiles(tmp_path)


def check(found_tree, *, bytes_=64 * MB, huge=True, any_governor=False):
    require(found_tree, read_environment(found_tree, 1), bytes_=bytes_, huge=huge, any_governor=any_governor)


def test_the_row_of_a_good_machine(tmp_path):
    good = tree(tmp_path)
    found = read_environment(good, 1)
    assert (found.kernel, found.processor, found.virtual) == ("6.12.0", "Some CPU", True)
    assert (found.thp, found.governor, found.free_bytes) == ("madvise", "performance", 1 << 30)
    check(good)


def code_of(found_tree, **options):
    with pytest.raises(TesseraError) as error:
        check(found_tree, **options)
    return error.value.code


@pytest.mark.parametrize("flags", ["fpu constant_tsc", "fpu nonstop_tsc", "fpu"])
def test_a_clock_that_may_change_its_rate(tmp_path, flags):
    assert code_of(tree(tmp_path, proc__cpuinfo=f"flags : {flags}\n")) == "no-invariant-tsc"


@pytest.mark.parametrize("text", ["always madvise [never]\n", None], ids=["never", "absent"])
def test_no_huge_pages(tmp_path, text):
    found = tree(tmp_path, **{THP.replace("/", "__"): text})
    assert code_of(found) == "no-thp"
    check(found, huge=False)


def test_memory_at_its_border(tmp_path):
    """A pass of 64MB needs itself, a file as large, and the spare: one kB less is too little."""
    needed = (2 * 64 * MB + SPARE_BYTES) >> 10
    check(tree(tmp_path, proc__meminfo=f"MemAvailable: {needed} kB\n"))
    assert code_of(tree(tmp_path, proc__meminfo=f"MemAvailable: {needed - 1} kB\n")) == "too-little-memory"


def test_a_governor_that_changes_the_frequency(tmp_path):
    found = tree(tmp_path, **{GOVERNOR.replace("/", "__"): "powersave\n"})
    assert code_of(found) == "governor"
    check(found, any_governor=True)


def test_no_driver_of_frequencies_is_no_governor(tmp_path):
    found = tree(tmp_path, **{GOVERNOR.replace("/", "__"): None})
    assert read_environment(found, 1).governor == ""
    check(found)


def test_a_machine_without_meminfo(tmp_path):
    with pytest.raises(TesseraError) as error:
        read_environment(tree(tmp_path, proc__meminfo="MemTotal: 1 kB\n"), 1)
    assert error.value.code == "meminfo" and "MemAvailable" in error.value.found


def test_a_processor_that_may_not_be_used(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 3})
    assert (processor_of(None), processor_of(0)) == (3, 0)
    with pytest.raises(TesseraError) as error:
        processor_of(1)
    assert "0, 3" in error.value.found
