"""Publishing: bytes before the name, the name before success, and one place that renames."""

from __future__ import annotations

import ast
import errno
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.core import files
from tessera.core.errors import EXIT_FAILED, EXIT_USAGE, TesseraError
from tessera.core.files import making, making_folder, publish, scratch_folder, write_text
from tessera.core.processes import has_died, process_name

#: Functions of core.files that rename: what is published, and what a whole folder is called while it goes.
RENAMING = {"_rename", "remove_folder"}
#: Native functions that publish a file, one for each component.
NATIVE = {
    "artifacts/counters/lib/counts.cpp",
    "artifacts/imitation/base/publish.h",
    "artifacts/tracer/lib/file_replacement.cpp",
    "artifacts/workloads/common/prepared_writer.cpp",
}
#: What is synced by the Python that starts it: its code is part of recorded programs.
SYNCED_AFTERWARDS = {"artifacts/workloads/common/prepared_writer.cpp"}

KILLED = """
import os, signal, sys
from pathlib import Path
from tessera.core.files import making, scratch_folder
with scratch_folder(Path(sys.argv[1])) as folder, making(sys.argv[1]) as made:
    (folder / "trace.tst").write_text("half")
    print(made, flush=True)
    os.kill(os.getpid(), signal.SIGKILL) if sys.argv[2] == "kill" else sys.stdin.read()
"""


@pytest.fixture
def calls(monkeypatch):
    """Syncs and renames in their order, as ``sync NAME`` and ``rename NAME``."""
    found: list[str] = []
    fsync, rename = os.fsync, os.rename

    def synced(descriptor: int) -> None:
        found.append(f"sync {Path(os.readlink(f'/proc/self/fd/{descriptor}')).name}")
        fsync(descriptor)

    def renamed(old, new) -> None:
        found.append(f"rename {Path(new).name}")
        rename(old, new)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "rename", renamed)
    return found


def test_bytes_then_name_then_folder(tmp_path, calls):
    write_text(tmp_path / "x", "text")
    assert calls[0].startswith("sync .x.") and calls[1:] == ["rename x", f"sync {tmp_path.name}"]


def test_new_folders_are_kept_too(tmp_path, calls):
    write_text(tmp_path / "a" / "b" / "x", "text")
    assert calls[:2] == ["sync a", f"sync {tmp_path.name}"] and calls[-1] == "sync b"


def test_without_sync_only_the_name_changes(tmp_path, calls):
    write_text(tmp_path / "a" / "x", "text", sync=False)
    assert calls == ["rename x"]


def test_a_folder_is_published_with_all_that_is_in_it(tmp_path, calls):
    with making_folder(tmp_path / "built") as made:
        (made / "sub").mkdir()
        (made / "sub" / "file").write_text("new")
    assert (tmp_path / "built" / "sub" / "file").read_text() == "new"
    at = calls.index("rename built")
    assert {"sync file", "sync sub"} <= set(calls[:at]) and calls[at + 1 :] == [f"sync {tmp_path.name}"]


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "old").touch()
    with pytest.raises(KeyboardInterrupt), making_folder(tmp_path / "built") as made:
        (made / "new").touch()
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["built"] and os.listdir(tmp_path / "built") == ["old"]
    with making_folder(tmp_path / "built") as made:
        (made / "new").touch()
    assert os.listdir(tmp_path) == ["built"] and os.listdir(tmp_path / "built") == ["new"]


@pytest.mark.parametrize("number", [1, 2])
def test_an_error_while_folders_change_places_leaves_the_old_one(tmp_path, monkeypatch, number):
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "old").touch()
    rename, seen = os.rename, []

    def renamed(old, new) -> None:
        seen.append(new)
        if len(seen) == number:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(old), None, str(new))
        rename(old, new)

    monkeypatch.setattr(os, "rename", renamed)
    with pytest.raises(TesseraError) as failed, making_folder(tmp_path / "built") as made:
        (made / "new").touch()
    assert str(tmp_path / "built") in failed.value.asked and failed.value.exit_code == EXIT_FAILED
    assert os.listdir(tmp_path) == ["built"] and os.listdir(tmp_path / "built") == ["old"]


@pytest.mark.parametrize("name", ["EIO", "ENOSPC", "EACCES", "EBADF"])
@pytest.mark.parametrize("call", ["fsync", "rename", "open"])
def test_an_error_names_path_cause_and_remedy_and_leaves_the_old_file(tmp_path, monkeypatch, call, name):
    number = getattr(errno, name)

    def fails(*_, **__):
        raise OSError(number, os.strerror(number))

    write_text(tmp_path / "x", "old")
    with pytest.raises(TesseraError) as failed, making(tmp_path / "x") as made:
        made.write_text("new")
        monkeypatch.setattr(os, call, fails)
    monkeypatch.undo()
    assert failed.value.exit_code == (EXIT_USAGE if name == "EACCES" else EXIT_FAILED)
    assert str(tmp_path / "x") in failed.value.asked and failed.value.found == os.strerror(number)
    assert failed.value.remedy
    assert (tmp_path / "x").read_text() == "old" and os.listdir(tmp_path) == ["x"]


def test_file_systems_that_cannot_sync_a_folder_are_used(tmp_path, monkeypatch):
    fsync = os.fsync

    def synced(descriptor: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", synced)
    write_text(tmp_path / "x", "text")
    assert (tmp_path / "x").read_text() == "text"


# What killed processes leave.


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path, monkeypatch):
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "x", "kill"], capture_output=True)
    assert done.returncode == -signal.SIGKILL
    left = os.listdir(tmp_path)
    assert len(left) == 2 and all(name.startswith(".x.") and name.endswith(".tmp") for name in left)
    monkeypatch.setattr(files, "_looked_into", set())
    write_text(tmp_path / "another", "text")
    assert os.listdir(tmp_path) == ["another"]


def test_what_a_live_process_writes_stays(tmp_path, monkeypatch):
    command = [sys.executable, "-c", KILLED, tmp_path / "x", "wait"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        made = other.stdout.readline().strip()
        monkeypatch.setattr(files, "_looked_into", set())
        write_text(tmp_path / "another", "text")
        assert os.path.exists(made) and len(os.listdir(tmp_path)) == 3
        other.stdin.close()
    assert sorted(os.listdir(tmp_path)) == ["another", "x"]


def test_only_processes_that_can_be_looked_up_count_as_dead():
    machine, boot, namespace, pid, ticks = process_name().split("-")
    assert not has_died(process_name())
    assert has_died(f"{machine}-{boot}-{namespace}-{pid}-1")
    assert has_died(f"{machine}-{boot}-{namespace}-7fffffff-{ticks}")
    assert has_died(f"{machine}-00000000-{namespace}-{pid}-{ticks}")  # before a reboot
    assert not has_died(f"00000000-{boot}-{namespace}-{pid}-1")
    assert not has_died(f"{machine}-{boot}-0-{pid}-1")
    assert not has_died("beef-1")
    assert has_died(f"{machine}-{boot}-{namespace}-ffffffffff-1")  # a name that nobody gave


def test_another_users_process_that_proc_hides_is_not_dead(monkeypatch):
    """As mount option ``hidepid`` of clusters does it."""
    machine, boot, namespace, _, ticks = process_name().split("-")
    name = f"{machine}-{boot}-{namespace}-7fffffff-{ticks}"

    def not_permitted(pid: int, number: int) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "kill", not_permitted)
    assert not has_died(name)


def test_a_published_scratch_file_needs_no_copy(tmp_path):
    with scratch_folder(tmp_path / "x") as folder:
        (folder / "made").write_text("text")
        inode = (folder / "made").stat().st_ino
        publish(folder / "made", tmp_path / "x")
    assert (tmp_path / "x").stat().st_ino == inode and os.listdir(tmp_path) == ["x"]


# One place renames.


def _renames(source: str) -> list[int]:
    """Lines of calls that rename a file: of ``os`` and ``shutil``, and methods of paths."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in ("os", "shutil"):
            if {"rename", "renames", "replace", "move"} & {name.name for name in node.names}:
                found.append(node.lineno)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = ast.unparse(node.func.value)
        of_module = owner in ("os", "shutil") and node.func.attr in ("rename", "renames", "replace", "move")
        # Methods of tables and texts have keywords, a constant, or two arguments.
        of_path = node.func.attr in ("rename", "replace") and len(node.args) == 1 and not node.keywords
        if of_module or (of_path and not isinstance(node.args[0], ast.Constant)):
            found.append(node.lineno)
    return found


def test_the_search_finds_every_kind_of_rename():
    for line in ("os.rename(a, b)", "os.replace(a, b)", "a.rename(b)", "a.replace(b)", "shutil.move(a, b)",
                 "from os import rename", "a.with_name(x).replace(p.q)"):  # fmt: skip
        assert _renames(line) == [1], line
    for line in ("table.rename(columns=b)", "column.rename('x')", "text.replace(a, b)", "replace(row, a=b)"):
        assert _renames(line) == [], line


def test_one_function_renames(root):
    found = {
        f"{path.relative_to(root)}:{line}"
        for folder in ("src", "workflow", "notebooks", "docker", "artifacts")
        for path in (root / folder).rglob("*.py")
        for line in _renames(path.read_text())
    }
    lines = (root / "src/tessera/core/files.py").read_text().splitlines()
    inside = {
        f"src/tessera/core/files.py:{line}"
        for node in ast.parse("\n".join(lines)).body
        if isinstance(node, ast.FunctionDef) and node.name in RENAMING
        for line in range(node.lineno, node.end_lineno + 1)
    }
    assert found and found - inside == set()


def test_one_function_renames_in_each_native_component(root):
    found = {
        path.relative_to(root).as_posix()
        for suffix in ("c", "cpp", "h", "hpp")
        for path in (root / "artifacts").rglob(f"*.{suffix}")
        if "tests" not in path.parts
        and re.search(r"\brename(at2?)?\s*\(", re.sub(r"//.*", "", path.read_text()))
    }
    assert found == NATIVE
    for name in NATIVE:
        text = (root / name).read_text()
        assert len(re.findall(r"\brename\s*\(", re.sub(r"//.*", "", text))) == 1, name
        syncs = len(re.findall(r"\bf(?:data)?sync\s*\(", text))
        assert syncs >= 2 or name in SYNCED_AFTERWARDS, f"{name}: file and folder"
