"""Energy counters from a fake sysfs tree: packages, wraps, missing files, permission; the doctor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tessera.core.checks import PASS, SKIP
from tessera.core.errors import TesseraError
from tessera.lab.energy.thread_measurement import Powercap
from tessera.machine.counters import sysfs
from tessera.machine.doctor import hardware

from .trees import RANGE_UJ, two_sockets, zone


def set_uj(package, value) -> None:
    package.file.write_text(f"{value}\n")


def test_packages_are_neither_their_parts_nor_other_zones(tmp_path):
    two_sockets(tmp_path)
    found = sysfs.energy_packages(tmp_path)
    assert [(one.folder.name, one.socket, one.name) for one in found] == [
        ("intel-rapl:0", 0, "package-0"),
        ("intel-rapl:1", 1, "package-1"),
    ]
    assert [one.read_uj() for one in found] == [1000, 5]
    assert found[0].seconds_to_wrap == pytest.approx(262.1, abs=0.1)


def test_a_socket_of_two_dies_is_their_sum(tmp_path):
    zone(tmp_path, "intel-rapl:0", "package-0-die-0")
    zone(tmp_path, "intel-rapl:1", "package-0-die-1")
    meter = Powercap.of_socket(0, tmp_path)
    with meter:
        for package, value in zip(meter.packages, (3_001_000, 501_000), strict=True):
            set_uj(package, value)
    assert meter.joules == pytest.approx(3.5)


def test_no_rapl_and_no_such_socket(tmp_path):
    with pytest.raises(TesseraError, match="socket 0") as caught:
        sysfs.package_of_socket(0, tmp_path)
    assert caught.value.code == "rapl-absent"
    two_sockets(tmp_path)
    with pytest.raises(TesseraError, match="0, 1") as caught:
        sysfs.package_of_socket(2, tmp_path)
    assert caught.value.code == "rapl-socket"


@pytest.mark.parametrize(
    ("before", "after", "joules"),
    [(0, 7_000_000, 7.0), (RANGE_UJ - 999_999, 2_000_000, 3.0), (RANGE_UJ, 0, 1e-6), (5, 5, 0.0)],
)
def test_a_counter_that_wraps(tmp_path, before, after, joules):
    zone(tmp_path, "intel-rapl:0", "package-0", before)
    meter = Powercap.of_socket(0, tmp_path)
    with meter:
        set_uj(meter.packages[0], after)
    assert meter.joules == pytest.approx(joules)


def test_many_wraps_are_counted_if_it_is_read_often_enough(tmp_path):
    """A range of 1 J wraps every ms at 1000 W: 10 readings of 0.6 J, 6 J in all."""
    zone(tmp_path, "intel-rapl:0", "package-0", 0, 999_999)
    times = iter(number / 10_000 for number in range(100))
    meter = Powercap(sysfs.package_of_socket(0, tmp_path), clock=lambda: next(times))
    for number in range(11):
        set_uj(meter.packages[0], 600_000 * number % 1_000_000)
        meter.read()
    assert meter._uj[meter.packages[0]] == 6_000_000


def test_a_wrap_that_may_have_been_missed(tmp_path):
    zone(tmp_path, "intel-rapl:0", "package-0")
    times = iter([0.0, 262.0, 525.0])
    meter = Powercap(sysfs.package_of_socket(0, tmp_path), clock=lambda: next(times))
    meter.read()
    meter.read()
    with pytest.raises(TesseraError, match="package-0") as caught:
        meter.read()
    assert caught.value.code == "rapl-wraps"


@pytest.mark.parametrize("text", ["", "-1", "many", str(RANGE_UJ + 1), "1.5"])
def test_a_counter_with_no_count(tmp_path, text):
    folder = zone(tmp_path, "intel-rapl:0", "package-0", text)
    with pytest.raises(TesseraError, match=str(folder / "energy_uj")) as caught:
        sysfs.package_of_socket(0, tmp_path)[0].read_uj()
    assert caught.value.code == "rapl-broken"


def test_a_missing_file_and_a_missing_range(tmp_path):
    folder = zone(tmp_path, "intel-rapl:0", "package-0")
    package = sysfs.package_of_socket(0, tmp_path)[0]
    (folder / "energy_uj").unlink()
    with pytest.raises(TesseraError, match="energy_uj"):
        package.read_uj()
    (folder / "max_energy_range_uj").write_text("0\n")
    with pytest.raises(TesseraError, match="max_energy_range_uj"):
        sysfs.energy_packages(tmp_path)


@pytest.fixture
def locked(tmp_path, monkeypatch):
    """A tree whose counters only root may read. (Tests may run as root, for whom no mode forbids it.)"""
    two_sockets(tmp_path)
    read = Path.read_text

    def refuse(self, *args, **options):
        if self.name == "energy_uj":
            raise PermissionError(13, "Permission denied")
        return read(self, *args, **options)

    monkeypatch.setattr(Path, "read_text", refuse)
    return tmp_path


def test_no_permission(locked):
    with pytest.raises(TesseraError, match="sudo chmod a\\+r") as caught:
        sysfs.package_of_socket(0, locked)[0].read_uj()
    assert caught.value.code == "rapl-permission" and "energy_uj" in caught.value.found


def test_the_doctor_names_what_is_there(tmp_path):
    (row,) = hardware.energy_checks(tmp_path)
    assert (row.name, row.status) == ("RAPL", SKIP) and "tessera lab threads measure" in row.remedy
    two_sockets(tmp_path)
    (row,) = hardware.energy_checks(tmp_path)
    assert row.status == PASS and "package-0, package-1" in row.found and row.remedy == ""


def test_the_doctor_without_permission(locked):
    (row,) = hardware.energy_checks(locked)
    assert row.status == SKIP and "energy_uj" in row.found and "sudo chmod" in row.remedy
