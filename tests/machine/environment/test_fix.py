"""``--fix`` on a machine of files: what it sets, and that all of it is undone, however the owner ends."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.environment import CHECKS, Needs, examine_conditions, fixed, free_memory, plan_changes
from tessera.machine.environment.condition import Hold, KernelSetting, Service
from tessera.machine.reserve.machine_state import state_folder
from tessera.machine.reserve.settings import STEPS, restore_settings

from . import trees

SECONDS = 20  #: in which a guardian must have undone


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A loud machine of files; records lie in a folder of the test; `systemctl` writes down its calls."""
    monkeypatch.setenv("TESSERA_MACHINE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("TESSERA_HUGEPAGES_SYSFS", str(tmp_path / "no pools"))
    root = trees.write(tmp_path / "root", trees.LOUD)
    systemctl = root / "usr/bin/systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$@" >> {root}/calls\n')
    systemctl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{systemctl.parent}:{os.environ['PATH']}")
    (root / "dev/cpu_dma_latency").write_bytes(b"\xff\x00\x00\x00")
    return root


def calls(root):
    path = root / "calls"
    return path.read_text().splitlines() if path.exists() else []


def until(condition):
    """Wait until the condition holds; whether it did in time."""
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def undone(root, before):
    """No record is left, and every setting has its value of before."""
    return not list(state_folder().glob("*.json")) and trees.values(root) == before


@contextmanager
def owner(root, *, keeps_the_pipe=False):
    """A process that fixes `root` and pauses; gives its number and its guardian's. Killed at the end."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with fixed(plan_changes(root)) as guardian:
                if keeps_the_pipe and os.fork() == 0:
                    os.close(writer)
                    time.sleep(60)
                    os._exit(0)
                os.write(writer, f"{guardian.pid}\n".encode())
                signal.pause()
                status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as told:
        guardian = int(told.readline())
    try:
        yield child, guardian
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_the_plan_names_every_setting(machine):
    planned = plan_changes(machine)
    settings = {
        str(c.path.relative_to(machine)): c.value for c in planned.changes if isinstance(c, KernelSetting)
    }
    assert settings == trees.SET
    assert list(settings)[-2:] == ["sys/devices/system/cpu/cpu3/online", "sys/devices/system/cpu/smt/control"]
    (service,) = [c for c in planned.changes if isinstance(c, Service)]
    assert STEPS[service.name].do == ("systemctl", "stop", "irqbalance")
    assert STEPS[service.name].undo == ("systemctl", "start", "irqbalance")
    (hold,) = [c for c in planned.changes if isinstance(c, Hold)]
    assert hold.data == bytes(4) and len(planned.lines()) == len(trees.SET) + 2
    assert planned.left == ()


def test_what_no_command_sets_is_left(machine):
    (machine / "proc/cpuinfo").write_text(trees.CPUINFO.replace("vme", "hypervisor"))
    (machine / "proc/pressure/cpu").unlink()
    planned = plan_changes(machine, Needs(pages_2mb=10_000))
    assert [row.check for row in planned.left] == ["2mb-pages", "guest", "load"]


def test_turbo_only_if_asked(machine):
    assert not any("no_turbo" in line for line in plan_changes(machine).lines())
    assert any("no_turbo" in line for line in plan_changes(machine, no_turbo=True).lines())


def test_a_quiet_machine_needs_nothing(tmp_path):
    assert plan_changes(trees.write(tmp_path)) == plan_changes(trees.write(tmp_path), Needs("uk"))
    assert plan_changes(trees.write(tmp_path)).changes == ()


def test_settings_hold_inside_and_are_undone(machine):
    before = trees.values(machine)
    with fixed(plan_changes(machine)) as guardian:
        assert trees.values(machine) == trees.SET
        assert calls(machine) == ["stop irqbalance"]
        assert (machine / "dev/cpu_dma_latency").read_bytes()[:4] == bytes(4)
        holds = [os.readlink(link) for link in Path(f"/proc/{guardian.pid}/fd").iterdir()]
        assert str(machine / "dev/cpu_dma_latency") in holds
        met = {row.check for row in examine_conditions(machine) if row.status == "ok"}
        assert set(CHECKS) - met == {"smt", "irqbalance"}  # files do not follow each other as a kernel's do
        guardian.check()
        assert os.getsid(guardian.pid) != os.getsid(0)
    assert undone(machine, before) and calls(machine) == ["stop irqbalance", "start irqbalance"]


def test_an_exception_undoes(machine):
    before = trees.values(machine)
    with pytest.raises(KeyError), fixed(plan_changes(machine)):
        raise KeyError
    assert undone(machine, before)


def test_kill_minus_nine_of_the_owner_20_times(machine):
    before = trees.values(machine)
    for turn in range(20):
        with owner(machine) as (child, guardian):
            assert trees.values(machine) == trees.SET, turn
            os.kill(child, signal.SIGKILL)
            assert until(lambda: undone(machine, before)), turn
            assert until(lambda: not Path(f"/proc/{guardian}/cwd").exists()), turn  # noqa: B023
    assert calls(machine) == ["stop irqbalance", "start irqbalance"] * 20


@pytest.mark.parametrize("delay_ms", [0, 20, 60, 100, 140, 180])
def test_kill_minus_nine_while_the_guardian_starts(machine, delay_ms):
    """The owner ends before the guardian has answered: nothing, or all of it, was changed and is undone."""
    before = trees.values(machine)
    child = os.fork()
    if child == 0:
        with fixed(plan_changes(machine)):
            signal.pause()
        os._exit(0)
    time.sleep(delay_ms / 1000)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    quiet = 0

    def calm():
        nonlocal quiet
        quiet = quiet + 1 if undone(machine, before) else 0
        return quiet > 60  # 0.6 s: a guardian that still starts would change settings by then

    assert until(calm)


def test_a_forked_process_that_keeps_the_pipe_does_not_keep_the_settings(machine):
    before = trees.values(machine)
    with owner(machine, keeps_the_pipe=True) as (child, _):
        forked = Path(f"/proc/{child}/task/{child}/children").read_text().split()
        os.kill(child, signal.SIGKILL)
        try:
            assert until(lambda: undone(machine, before))
        finally:
            for number in forked:
                if b"guardian" not in Path(f"/proc/{number}/cmdline").read_bytes():
                    os.kill(int(number), signal.SIGKILL)


def test_owner_and_guardian_killed_the_next_start_mends(machine):
    before = trees.values(machine)
    with owner(machine) as (child, guardian):
        os.kill(guardian, signal.SIGKILL)
        os.kill(child, signal.SIGKILL)
        assert until(lambda: b"guardian" not in command(guardian))
    assert trees.values(machine) == trees.SET
    changed = [name for name, value in trees.SET.items() if before[name] != value]
    restored = {str(machine / name) for name in changed} | {"systemctl start irqbalance"}
    assert set(restore_settings()) == restored and len(changed) == len(trees.SET) - 1
    assert undone(machine, before) and calls(machine) == ["stop irqbalance", "start irqbalance"]


def command(number):
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""


def ended(number):
    """Whether a child can be waited for. Its command line is gone a moment earlier."""
    return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_signals_to_the_guardian_undo_and_the_owner_is_told(machine):
    before = trees.values(machine)
    with pytest.raises(TesseraError) as told, fixed(plan_changes(machine)) as guardian:
        os.kill(guardian.pid, signal.SIGTERM)
        assert until(lambda: undone(machine, before))
        assert until(lambda: ended(guardian.pid))
        guardian.check()
    assert told.value.code == "environment/guardian" and str(guardian.pid) in told.value.found


def test_a_second_checkout_is_refused_by_name(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path / "first"))
    with owner(machine) as (child, _), pytest.raises(TesseraError) as refused:
        monkeypatch.setenv("TESSERA_ROOT", str(tmp_path / "second"))
        with fixed(plan_changes(machine)):
            pass
    assert refused.value.code == "settings/busy"
    assert f"process {child} " in refused.value.found and "python" in refused.value.found
    assert str(tmp_path / "first") in refused.value.found and "since 20" in refused.value.found
    assert trees.values(machine)["proc/sys/kernel/nmi_watchdog"] in ("0", "1")


def test_a_rejected_value_undoes_the_others(machine):
    """The last change fails: its file is a folder."""
    before = trees.values(machine)
    control = machine / "sys/devices/system/cpu/smt/control"
    planned = plan_changes(machine)
    control.unlink()
    control.mkdir()
    with pytest.raises(TesseraError) as refused, fixed(planned):
        pass
    assert refused.value.code == "settings/rejected" and str(control) in refused.value.asked
    control.rmdir()
    control.write_text("on\n")
    assert until(lambda: trees.values(machine) == before)


def test_a_service_that_does_not_stop_undoes_the_settings(machine):
    before = trees.values(machine)
    (machine / "usr/bin/systemctl").write_text("#!/bin/sh\necho 'access denied' >&2\nexit 4\n")
    with pytest.raises(TesseraError) as refused, fixed(plan_changes(machine)):
        pass
    assert refused.value.code == "settings/rejected" and "denied" in refused.value.found
    assert trees.values(machine) == before


@pytest.mark.parametrize("value", ["1\n", None])
def test_the_owner_is_told_of_a_setting_that_somebody_else_changed(machine, capfd, value):
    """None: it can't be read any more. It is left as it is at the end, and the others are restored."""
    before = trees.values(machine)
    watchdog = machine / "proc/sys/kernel/nmi_watchdog"
    (machine / "proc/sys/kernel/numa_balancing").write_text("0\n")
    with pytest.raises(TesseraError) as told, fixed(plan_changes(machine)) as guardian:
        guardian.check()
        watchdog.unlink() if value is None else watchdog.write_text("2\n")
        guardian.check()
    assert told.value.code == "environment/changed" and str(watchdog) in told.value.found
    if value is not None:
        assert "'2'" in told.value.found and watchdog.read_text() == "2\n"
        assert str(watchdog) in capfd.readouterr().err
    names = set(before) - {"proc/sys/kernel/nmi_watchdog", "proc/sys/kernel/numa_balancing"}
    watchdog.write_text("2\n")
    assert {name: trees.values(machine)[name] for name in names} == {name: before[name] for name in names}


def test_the_record_is_complete_before_anything_changes(machine):
    with fixed(plan_changes(machine)) as guardian:
        (record,) = state_folder().glob("*.json")
        facts = json.loads(record.read_text())
        assert facts["owner"]["pid"] == os.getpid() != guardian.pid
        assert {str(Path(path).relative_to(machine)) for path in facts["before"]} == set(trees.SET)
        assert facts["steps"] == ["irqbalance"]


def test_steps_that_cannot_be_undone_are_apart(machine):
    """No plan contains them."""
    assert not any(
        word in line for line in plan_changes(machine).lines() for word in ("drop_caches", "compact")
    )
    free_memory(machine)
    assert (machine / "proc/sys/vm/drop_caches").read_text() == "3"
    assert (machine / "proc/sys/vm/compact_memory").read_text() == "1"
    (machine / "proc/sys/vm/drop_caches").unlink()
    (machine / "proc/sys/vm/drop_caches").mkdir()
    with pytest.raises(TesseraError) as refused:
        free_memory(machine)
    assert "drop_caches" in refused.value.remedy
