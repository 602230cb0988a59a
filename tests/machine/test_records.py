"""Records of reserved pages and changed settings: one place for all checkouts, right after any kill."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.core.processes import module_command, start_ticks
from tessera.core.units import PAGE_2MB
from tessera.machine.reserve import (
    HugePagesUnavailable,
    keep_huge_pages,
    machine_state,
    release_kept,
    reserve_huge_pages,
    restore_leftovers,
    settings,
)
from tessera.machine.reserve.machine_state import Owner, state_folder, write_record
from tessera.machine.reserve.settings import changed_settings, restore_settings

POOL, LEDGER = str(PAGE_2MB), "huge-pages"
PR_SET_NAME = 15


class Machine:
    """A pool of 2MB pages and two settings as files, which change at once, as the kernel's do.

    No page is free, so each reservation adds what it asks.
    """

    def __init__(self, folder: Path):
        self.folder, self.state = folder, folder / "state"
        self.pool = folder / "sysfs/hugepages-2048kB"
        self.pool.mkdir(parents=True)
        for name in ("free", "resv", "surplus"):
            self.set(0, name)
        self.set(100)
        self.enabled, self.compact = folder / "enabled", folder / "compact"
        self.enabled.write_text("always madvise [never]\n")
        self.compact.write_text("1\n")
        self.wanted = {self.enabled: "madvise", self.compact: "0"}

    def set(self, count: int, name: str = "nr") -> None:
        (self.pool / f"{name}_hugepages").write_text(f"{count}\n")

    def write(self, path: Path, text: str) -> None:
        """In place of the method of a path: without the moment in which a file is empty."""
        with path.with_suffix(".written").open("w") as stream:
            stream.write(text)
        path.with_suffix(".written").rename(path)
        self.on_write(path)

    def on_write(self, path: Path) -> None:
        """What else the kernel does."""

    @property
    def pages(self) -> int:
        return int((self.pool / "nr_hugepages").read_text())

    def is_as_before(self) -> bool:
        """No page, no setting and no record is left. Hidden files are those of killed writers."""
        left = [path.name for path in self.state.glob("[!.]*") if path.suffix != ".lock"]
        values = settings.chosen_word(self.enabled), settings.chosen_word(self.compact)
        return (self.pages, *values, left) == (100, "never", "1", [])


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_MACHINE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("TESSERA_HUGEPAGES_SYSFS", str(tmp_path / "sysfs"))
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path / "checkout"))
    made = Machine(tmp_path)
    monkeypatch.setattr(Path, "write_text", lambda path, text: made.write(path, text))
    return made


@pytest.fixture
def steps(machine, monkeypatch):
    """The step of the table, as a program that writes down its calls."""
    systemctl = machine.folder / "bin/systemctl"
    systemctl.parent.mkdir()
    systemctl.write_text(f'#!/bin/sh\necho "$1" >> {machine.folder}/calls\n')
    systemctl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{systemctl.parent}:{os.environ['PATH']}")
    return lambda: (machine.folder / "calls").read_text().split()


def reserving(pages: int):
    return reserve_huge_pages(pages, allowed=True)


def dead() -> Owner:
    """A process whose number another one has by now."""
    return replace(Owner.of(os.getpid()), started=1)


def pages_left(added: int, total: int, owner: Owner, **more) -> dict:
    """The record of a process that added pages."""
    one = {"name": "a", "owner": asdict(owner), "added": {POOL: added}, "kept": False} | more
    return {"reservations": {"a": one}, "totals": {POOL: total}, "change": None}


def settings_left(machine: Machine, **more) -> dict:
    facts = {
        "owner": asdict(dead()),
        "before": {str(machine.compact): "1"},
        "ours": {str(machine.compact): ["0"]},
        "steps": [],
        "restoring": None,
    }
    return facts | more


# Two checkouts.


@pytest.mark.parametrize("first_to_end", [0, 1])
def test_two_checkouts_add_and_take_back_their_own_pages(machine, monkeypatch, first_to_end):
    blocks = []
    for number, pages in enumerate((10, 20)):
        monkeypatch.setenv("TESSERA_ROOT", str(machine.folder / f"checkout-{number}"))
        blocks.append(ExitStack())
        blocks[-1].enter_context(reserving(pages))
    assert machine.pages == 130
    blocks[first_to_end].close()
    assert machine.pages == 100 + (20, 10)[first_to_end]
    blocks[1 - first_to_end].close()
    assert machine.is_as_before()


def test_pages_that_another_process_added_are_left_to_it(machine):
    """They are free as long as its program does not run. One that started this process is no other one."""
    with ExitStack() as stack:
        other = stack.enter_context(subprocess.Popen(["sleep", "60"]))
        stack.callback(other.kill)
        # free pages (those of a dead process go when they are taken back), and the pool's size inside
        cases = ((Owner.of(other.pid), 10, 120), (Owner.of(os.getppid()), 10, 110), (dead(), 0, 110))
        for owner, free, inside in cases:
            machine.set(110)
            machine.set(free, "free")
            write_record(LEDGER, pages_left(10, 110, owner))
            with reserving(10):
                assert machine.pages == inside, owner


def test_without_permission_free_pages_are_enough_and_nothing_is_written(machine):
    machine.set(10, "free")
    with reserve_huge_pages(10, allowed=False):
        pass
    with reserving(10):
        pass
    with pytest.raises(HugePagesUnavailable), reserve_huge_pages(11, allowed=False):
        pass
    assert not machine.state.exists()


def test_pages_in_use_after_a_kill_are_not_kept_by_the_next_run(machine, monkeypatch):
    """A pool that shrinks below what is used has surplus pages, which are gone when their program ends."""
    machine.set(164)
    machine.set(64, "surplus")

    def make_lasting(path):
        if path.name == "nr_hugepages" and machine.pages > 164:
            machine.set(0, "surplus")

    monkeypatch.setattr(machine, "on_write", make_lasting)
    with reserving(8):
        assert machine.pages == 172
    assert machine.pages == 100


def test_a_second_checkout_that_wants_settings_learns_who_has_them(machine, monkeypatch):
    with changed_settings(machine.wanted, allowed=True):
        monkeypatch.setenv("TESSERA_ROOT", str(machine.folder / "second"))
        with pytest.raises(TesseraError) as refused, changed_settings({machine.compact: "5"}, allowed=True):
            pass
        assert refused.value.code == "settings/busy" and machine.compact.read_text() == "0"
        for text in (f"process {os.getpid()} ", f"{machine.folder}/checkout", "since 20"):
            assert text in refused.value.found
        assert restore_settings() == [] and machine.compact.read_text() == "0"  # its owner lives
    assert machine.is_as_before()


def test_a_process_that_only_restores_is_waited_for(machine, monkeypatch):
    """It has the lock for a moment, and the record of a dead process."""
    write_record(settings.SETTINGS, settings_left(machine))
    machine.compact.write_text("0\n")
    with ExitStack() as restoring:
        restoring.enter_context(machine_state.locked(settings.SETTINGS))
        monkeypatch.setattr(settings.time, "sleep", lambda seconds: restoring.close())
        with changed_settings({machine.enabled: "madvise"}, allowed=True):
            assert machine.compact.read_text() == "1"
    assert machine.is_as_before()


# Kills and errors. Kills come before calls that change something: between two of these all is the same.

CHANGING = {"write", "fsync", "rename", "unlink", "flock", "mkdir", "fork_exec"}
CALLS = CHANGING | {"open", "close"}


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def fill_the_disk():
    """The call fails; those after it do not, because Python drops a profile function that raises."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def stopped_at(number: int, work, stop) -> bool:
    """Run ``work`` in a child, and ``stop`` in place of one of its calls; False if it has fewer calls."""
    child = os.fork()
    if child == 0:
        left, calls = number, CHANGING if stop is kill else CALLS

        def count(frame, event, called):
            nonlocal left
            if event == "c_call" and called.__name__ in calls:
                left -= 1
                if left < 0:
                    stop()

        status = 1
        try:
            sys.setprofile(count)
            work()
            sys.setprofile(None)
            status = 0 if left >= 0 else 2
        except (TesseraError, OSError):
            status = 2
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    status = os.waitstatus_to_exitcode(ended)
    assert status in (-signal.SIGKILL, 0, 2)
    return status != 0


def every_stop(work, check, stop=kill) -> int:
    """Stop ``work`` at each of its calls, and check after each; returns how many there were."""
    number = 0
    while stopped_at(number, work, stop):
        check(number)
        number += 1
    check(number)
    return number


@pytest.mark.parametrize("stop", [kill, fill_the_disk])
def test_pages_are_right_after_a_kill_or_a_full_disk_at_any_call(machine, stop):
    """Another reservation is there all the time, and its pages stay."""

    def work():
        with reserving(7):
            pass

    def check(number):
        assert set(restore_leftovers()) <= {PAGE_2MB}
        assert machine.pages == 111, number

    with reserving(11):
        assert every_stop(work, check, stop) > 20
    assert machine.is_as_before()


@pytest.mark.parametrize("stop", [kill, fill_the_disk])
def test_settings_are_right_after_a_kill_or_a_full_disk_at_any_call(machine, steps, stop):
    def work():
        with changed_settings(machine.wanted, allowed=True, steps=["irqbalance"]):
            pass

    def check(number):
        restore_settings()
        assert machine.is_as_before(), number

    assert every_stop(work, check, stop) > 20
    done = steps()
    assert done[-1] == "start" and done.count("start") >= done.count("stop") > 1


def test_what_restores_may_be_killed_at_any_call_too(machine, steps, capfd):
    def work():
        restore_leftovers()
        restore_settings()

    def leave():
        machine.set(107)
        write_record(LEDGER, pages_left(7, 107, dead()))
        machine.enabled.write_text("always [madvise] never\n")
        machine.compact.write_text("0\n")
        before = {str(machine.enabled): "never", str(machine.compact): "1"}
        ours = {str(machine.enabled): ["madvise"], str(machine.compact): ["0"]}
        write_record(
            settings.SETTINGS, settings_left(machine, before=before, ours=ours, steps=["irqbalance"])
        )

    def check(number):
        work()
        assert machine.is_as_before(), number
        leave()

    leave()
    assert every_stop(work, check) > 20
    work()
    assert capfd.readouterr().err == ""  # nothing was taken for a change by somebody else


# What somebody else has changed stays.


def test_a_pool_that_somebody_else_has_set_is_left(machine, capsys):
    with reserving(10):
        machine.set(500)
    said = capsys.readouterr().err
    assert machine.pages == 500 and "500 in place of 110" in said and "vm.nr_hugepages=490" in said
    with reserving(10):
        assert machine.pages == 510
    assert machine.pages == 500 and capsys.readouterr().err == ""


def test_a_setting_that_somebody_else_has_changed_is_left(machine, capsys):
    with changed_settings(machine.wanted, allowed=True):
        machine.compact.write_text("7\n")
    said = capsys.readouterr().err
    assert machine.compact.read_text() == "7\n" and settings.chosen_word(machine.enabled) == "never"
    assert all(text in said for text in (str(machine.compact), "'7'", "'0'", "'1'"))
    assert list(machine.state.glob("*.json")) == []


def test_a_setting_that_follows_another_one_is_restored(machine, monkeypatch):
    """SMT brings processors online: that one of them is online then, is no change by somebody else."""
    smt, offline = machine.folder / "smt", machine.folder / "online"
    smt.write_text("on\n")
    offline.write_text("0\n")

    def follow(path):
        if path == smt and smt.read_text() == "on":
            offline.write_text("1\n")

    monkeypatch.setattr(machine, "on_write", follow)
    with changed_settings({offline: "0", smt: "off"}, allowed=True):
        pass
    assert (smt.read_text(), offline.read_text()) == ("on", "0")


def test_a_value_that_the_kernel_shows_in_another_way_is_ours(machine, monkeypatch):
    mask = machine.folder / "mask"
    mask.write_text("00ff")

    def show(path):
        if path == mask and len(mask.read_text()) < 4:
            mask.write_text(mask.read_text().zfill(4))

    monkeypatch.setattr(machine, "on_write", show)
    with changed_settings({mask: "f"}, allowed=True) as held:
        assert held == {str(mask): "000f"}
    assert mask.read_text() == "00ff"


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EACCES])
def test_a_process_that_cannot_be_looked_up_counts_as_alive(machine, monkeypatch, number):
    write_record(LEDGER, pages_left(7, 107, dead()))
    machine.set(107)
    started = start_ticks(os.getpid())
    with monkeypatch.context() as patch:
        real = Path.read_text

        def refuse(path, *arguments, **options):
            if path.name == "stat":
                raise OSError(number, os.strerror(number), str(path))
            return real(path, *arguments, **options)

        patch.setattr(Path, "read_text", refuse)
        assert restore_leftovers() == {} and machine.pages == 107
        with pytest.raises(OSError):
            start_ticks(os.getpid())
    assert start_ticks(2**22 + 1) is None
    prctl = ctypes.CDLL(None).prctl
    name = Path("/proc/self/comm").read_bytes().strip()
    prctl(PR_SET_NAME, b"\xff) R 1")
    assert start_ticks(os.getpid()) == started and os.getppid() in machine_state.ancestors()
    prctl(PR_SET_NAME, name)
    assert restore_leftovers() == {PAGE_2MB: 7} and machine.pages == 100


# Damage, other boots, earlier versions, strangers.

DAMAGED = {
    "empty": b"",
    "zero bytes": bytes(300),
    "half": b'{"boot_id": "',
    "list": b"[]",
    "number": b"7",
    "deep": b"[" * 100_000,
    "no text": b"\xff\xfe",
    "keys": b"{BOOT}",
    "types": b'{BOOT, "reservations": [1], "totals": [], "change": 3, "owner": 1, "before": []}',
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_record_is_moved_aside_and_the_work_goes_on(machine, content, capsys):
    boot = json.dumps({"boot_id": machine_state.BOOT_ID.read_text().strip()}).encode()[1:-1]
    for name in (LEDGER, settings.SETTINGS):
        (state_folder() / f"{name}.json").write_bytes(content.replace(b"BOOT", boot))
    assert (restore_leftovers(), restore_settings()) == ({}, [])
    said = capsys.readouterr().err
    for name in (LEDGER, settings.SETTINGS):
        assert f"{machine.state}/{name}.json" in said and f"{machine.state}/{name}.damaged" in said
    with reserving(5), changed_settings(machine.wanted, allowed=True):
        assert machine.pages == 105
    assert machine.pages == 100 and list(machine.state.glob("*.json")) == [] and capsys.readouterr().err == ""


def test_a_step_that_is_not_in_the_table_is_never_run(machine, steps, capsys):
    mark = machine.folder / "mark"
    for name in (f"touch {mark}", ["touch", str(mark)]):
        write_record(settings.SETTINGS, settings_left(machine, steps=[name]))
        machine.compact.write_text("0\n")
        assert restore_settings() == [] and machine.compact.read_text() == "0\n"
        assert "settings.damaged" in capsys.readouterr().err and not mark.exists()
    with pytest.raises(TesseraError), changed_settings({}, allowed=True, steps=["mark"]):
        pass


def test_records_of_another_boot_are_void(machine):
    write_record(LEDGER, pages_left(7, 100, dead()) | {"boot_id": "another"})
    write_record(settings.SETTINGS, settings_left(machine) | {"boot_id": "another"})
    machine.compact.write_text("0\n")
    assert (restore_leftovers(), restore_settings()) == ({}, [])
    assert machine.pages == 100 and machine.compact.read_text() == "0\n"
    assert list(machine.state.glob("*.json")) == []


def test_records_in_a_checkout_are_named_and_not_used(machine):
    """Earlier versions wrote them there, where programs in containers can write, too; one is a link."""
    kept, elsewhere = machine.folder / "checkout/.tessera", machine.folder / "elsewhere"
    boot = machine_state.BOOT_ID.read_text().strip()
    mark = machine.folder / "mark"
    facts = {
        "boot_id": boot,
        "added": {POOL: 50},
        "before": {str(machine.compact): "9"},
        "undo": [["touch", str(mark)]],
    }
    for folder in (kept / "settings", elsewhere):
        folder.mkdir(parents=True)
        (folder / "1.json").write_text(json.dumps(facts))
    (kept / "reserve").symlink_to(elsewhere)
    done = subprocess.run(module_command("tessera.machine.reserve"), capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.count("rm -r ") == 2, done.stderr
    assert str(kept / "settings") in done.stderr and str(kept / "reserve") in done.stderr
    assert machine.is_as_before() and not mark.exists()
    assert [path.name for path in elsewhere.iterdir()] == ["1.json"]


def test_a_folder_that_others_can_write_to_is_not_used(machine):
    write_record(settings.SETTINGS, settings_left(machine))
    machine.compact.write_text("0\n")
    machine.state.chmod(0o777)
    assert restore_settings() == [] and machine.compact.read_text() == "0\n"
    with pytest.raises(TesseraError) as refused, reserving(5):
        pass
    assert refused.value.code == "machine-state" and str(machine.state) in refused.value.found
    assert machine.pages == 100


@pytest.mark.parametrize("number", [errno.EBADF, errno.ENOLCK, errno.EROFS, errno.EACCES])
def test_a_lock_that_the_system_refuses_stops_changes_only(machine, monkeypatch, capsys, number):
    write_record(LEDGER, pages_left(7, 107, dead()))
    write_record(settings.SETTINGS, settings_left(machine))

    def refuse(stream, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert (restore_leftovers(), restore_settings()) == ({}, [])
    assert capsys.readouterr().err.count(os.strerror(number)) == 2
    for change in (reserving(5), changed_settings(machine.wanted, allowed=True)):
        with pytest.raises(TesseraError) as refused, change:
            pass
        assert refused.value.code == "machine-state"
    assert machine.pages == 100 and machine.compact.read_text() == "1\n"


def test_a_read_only_disk_is_an_error_before_anything_changes(machine, monkeypatch):
    state_folder()

    def refuse(*arguments, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for name in ("rename", "replace", "fsync"):
        monkeypatch.setattr(os, name, refuse)
    for change in (reserving(5), changed_settings(machine.wanted, allowed=True)):
        with pytest.raises(TesseraError), change:
            pass
    monkeypatch.undo()
    assert (machine.pages, machine.compact.read_text()) == (100, "1\n")


# Users who may not write the machine's files.


@pytest.fixture
def as_nobody():
    """``as_nobody(work)``: in a child that is an ordinary user, in a folder of its own. Gives its stderr."""
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    folder = Path(tempfile.mkdtemp(prefix="tessera-nobody-"))
    os.chown(folder, 65534, 65534)

    def run(work) -> str:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setgid(65534)
                os.setuid(65534)
                os.environ["TESSERA_MACHINE_STATE"] = str(folder / "state")
                sys.stderr = (folder / "said").open("w")
                work()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        _, status = os.waitpid(child, 0)
        said = (folder / "said").read_text()
        assert os.waitstatus_to_exitcode(status) == 0, said
        return said

    run.folder = folder
    yield run
    shutil.rmtree(folder)


def test_an_ordinary_user_goes_on(as_nobody, monkeypatch):
    """The pool and the setting are root's. What can't be taken back is said each time, and stays recorded."""
    machine = Machine(as_nobody.folder)
    monkeypatch.setenv("TESSERA_HUGEPAGES_SYSFS", str(machine.pool.parent))
    machine.set(107)
    machine.compact.write_text("0\n")

    def leave():
        write_record(LEDGER, pages_left(7, 107, dead()))
        write_record(settings.SETTINGS, settings_left(machine))

    def start():
        assert (restore_leftovers(), restore_settings()) == ({}, [])
        with reserve_huge_pages(0, allowed=False):
            pass

    as_nobody(leave)
    for _ in range(2):
        said = as_nobody(start)
        assert (
            "7 pages" in said and str(machine.pool / "nr_hugepages") in said and str(machine.compact) in said
        )
        assert os.strerror(errno.EACCES) in said
    assert machine.pages == 107 and len(list(machine.state.glob("*.json"))) == 2
    machine.compact.write_text("1\n")  # an administrator has restored it: nothing is left to write
    assert str(machine.compact) not in as_nobody(start)


def test_the_folder_of_an_ordinary_user(as_nobody, monkeypatch):
    """Root's folder is no place for it, and neither is one that another user has made under its name."""
    monkeypatch.setattr(machine_state, "ROOTS_FOLDER", as_nobody.folder / "roots")
    monkeypatch.setattr(machine_state, "USERS_FOLDERS", as_nobody.folder / "lock")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(as_nobody.folder))
    (as_nobody.folder / "lock").mkdir()
    (as_nobody.folder / "lock").chmod(0o1777)
    wanted = as_nobody.folder / "lock/tessera-65534"

    def place(expected):
        def work():
            del os.environ["TESSERA_MACHINE_STATE"]
            assert state_folder() == expected and expected.stat().st_mode & 0o777 == 0o700

        return work

    as_nobody(place(wanted))
    wanted.rmdir()
    wanted.mkdir()  # root's
    as_nobody(place(as_nobody.folder / "tessera"))
    monkeypatch.delenv("TESSERA_MACHINE_STATE", raising=False)
    assert state_folder() == as_nobody.folder / "roots"


def test_kept_pages_stay_until_they_are_released(machine):
    assert keep_huge_pages(9, allowed=True) == {PAGE_2MB: 9} and machine.pages == 109
    assert restore_leftovers() == {} and machine.pages == 109
    assert release_kept() == {PAGE_2MB: 9} and machine.is_as_before()
