"""One run of a script in the guest: start QEMU, serve the guest's queries, keep its files, stop QEMU."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.lab.kernel import build_tools
from tessera.lab.kernel.page_tables import GuestMemory
from tessera.lab.kernel.qemu import (
    Channel,
    ChannelClosed,
    EmulatedMachine,
    GuestFile,
    GuestQuery,
    Monitor,
    connect_channel,
)
from tessera.machine.container import RunOptions
from tessera.machine.container.toolchain import Toolchain

#: Files that every run leaves.
OWN_FILES = ("status", "stdout", "stderr", "tainted", "dmesg", "console")
#: Seconds between two looks at tables that something was changing.
LOOK_AGAIN_SECONDS = 0.05


@dataclass(frozen=True)
class Look:
    """The view of the guest while the machine is stopped.

    Attributes:
        name: what the guest calls this moment.
        roots: root tables (physical addresses) that the guest names, by observer: ``home`` or a node.
        processors: root table of each processor (CR3).
        memory: the guest's memory.
        attempt: 0, 1, 2: how often this moment was looked at before.
    """

    name: str
    roots: dict[str, int]
    processors: list[int]
    memory: GuestMemory
    attempt: int


#: Called at ``host walk NAME [OBSERVER=ROOT...]``; True asks for another look, up to three in all.
OnWalk = Callable[[Look], bool]


@dataclass(frozen=True)
class GuestRun:
    """The output of a run.

    Attributes:
        status: exit status of the script.
        folder: the files of the guest's ``/out`` (``stdout``, ``stderr``, ``dmesg``, ...) and ``console``.
        release: the kernel's version as it says itself.
        seconds: wall time from QEMU's start.
    """

    status: int
    folder: Path
    release: str
    seconds: float

    def text(self, name: str) -> str:
        """A collected file; empty if the script wrote none."""
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def warnings(self) -> list[str]:
        """Lines of the kernel's log that no run may have."""
        marks = (
            "WARNING:",
            "BUG:",
            "Oops",
            "Bad page",
            "pgtable_replica: difference",
            "rcu_sched self-detected",
        )
        return [line for line in self.text("dmesg").splitlines() if any(mark in line for mark in marks)]


@dataclass(frozen=True)
class GuestProgram:
    """A kernel and the archives that it boots with.

    Attributes:
        kernel: the bzImage.
        archives: its first file system, in parts: busybox, tools, tests.
    """

    kernel: Path
    archives: tuple[Path, ...]


def run_in_guest(
    tools: Toolchain,
    program: GuestProgram,
    script: str,
    out: Path,
    *,
    machine: EmulatedMachine | None = None,
    timeout_seconds: float = 300,
    files: Mapping[str, bytes] | None = None,
    append: str = "",
    on_walk: OnWalk | None = None,
) -> GuestRun:
    """Run a shell script in the guest and collect its ``/out`` into ``out``.

    Args:
        files: more files for the guest (path -> content).
        append: more arguments for the kernel.

    Raises:
        TesseraError: the guest didn't come up, crashed or took too long; the console's end is in the message.
    """
    machine = machine or EmulatedMachine()
    out.mkdir(parents=True, exist_ok=True)
    for name in {*OWN_FILES, *machine.written}:  # an earlier run's must not pass for this one's
        (out / name).unlink(missing_ok=True)
    begin = time.monotonic()
    # A short path: a socket's name may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="tessera-guest-") as temporary:
        folder = Path(temporary)
        own = build_tools.pack_cpio({"/run/script": script.encode(), **(files or {})})
        initrd = folder / "initrd"
        initrd.write_bytes(b"".join(path.read_bytes() for path in program.archives) + own)
        command = machine.command(folder, program.kernel, initrd, append)
        process = tools.popen(
            command,
            [program.kernel],
            options=RunOptions(writes=(folder,)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            deadline = begin + timeout_seconds
            release = _serve(process, folder, machine, deadline, out, on_walk)
        except (TimeoutError, ChannelClosed) as error:
            raise _failed(error, process, folder, out, timeout_seconds) from None
        finally:
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
            for name in machine.written:
                if (folder / name).exists():
                    shutil.copyfile(folder / name, out / name)
    status = int((out / "status").read_text())
    return GuestRun(status, out, release, time.monotonic() - begin)


def _serve(
    process, folder: Path, machine: EmulatedMachine, deadline: float, out: Path, on_walk: OnWalk | None
) -> str:
    """Answer the guest's queries until ``@bye``; returns its kernel's version."""
    release = ""
    with connect_channel(folder / "channel", deadline, lambda: process.poll() is None) as connection:
        channel = Channel(connection, deadline)
        for message in channel.messages():
            if isinstance(message, GuestFile):
                path = out / message.path
                if not path.resolve().is_relative_to(out.resolve()):
                    raise ChannelClosed(f"the guest sent a file named {message.path}")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(message.content)
            elif message.word == "ready":
                release = " ".join(message.arguments)
            else:
                channel.answer(_answer(message, folder, machine, on_walk))
    return release


def _answer(query: GuestQuery, folder: Path, machine: EmulatedMachine, on_walk: OnWalk | None) -> str:
    if query.word != "walk" or not query.arguments:
        return f"unknown query {query.word}"
    if on_walk is None:
        return "nobody walks"
    name, *named = query.arguments
    roots = {observer: int(root, 16) for observer, root in (word.split("=") for word in named)}
    files = [machine.memory_file(folder, node) for node in range(machine.filled)]
    with Monitor(folder / "monitor") as monitor:
        for attempt in range(3):
            monitor.execute("stop")
            try:
                memory = GuestMemory(files, machine.node_bytes, machine.low_mb << 20)
                again = on_walk(Look(name, roots, monitor.roots(), memory, attempt))
            finally:
                monitor.execute("cont")
            if not again:
                break
            time.sleep(LOOK_AGAIN_SECONDS)
    return "ok"


def _failed(error, process, folder: Path, out: Path, timeout_seconds: float) -> TesseraError:
    console = folder / "console"
    text = console.read_text(errors="replace") if console.exists() else ""
    if not text and process.poll() is not None and process.stdout:
        said = process.stdout.read()
        text = said if isinstance(said, str) else said.decode(errors="replace")
    tail = "\n".join(text.splitlines()[-30:])
    if isinstance(error, TimeoutError):
        found = f"the script was not done after {timeout_seconds:.0f} s"
        remedy, code = f"give a larger --timeout, or read {out / 'console'}", "guest-timeout"
    else:
        found = f"the emulated machine stopped before the script did{': ' + str(error) if str(error) else ''}"
        remedy, code = f"read {out / 'console'}", "guest-stopped"
    found = f"{found}; console:\n{tail}"
    return TesseraError("a run in the guest", found, remedy, exit_code=EXIT_FAILED, code=code)


# What the experiments' scripts for the guest share.

#: Allow replicas to processes that ask.
REPLICATION_ON = "echo 1 > /proc/sys/vm/pgtable_replication || exit\n"
#: On a kernel without the patches each tool must refuse and say why.
REFUSED_SCRIPT = """pgtblrepl -r all true 2> /out/refused
[ $? = 2 ] && grep -q 'no vm.pgtable_replication' /out/refused || exit 90
pagetable-dump 1 2>> /out/refused
[ $? = 2 ] && grep -q 'pagetable-dump: this kernel has no' /out/refused || exit 91
replication-on 2>> /out/refused
[ $? = 2 ] && grep -q 'this kernel has no replicas' /out/refused || exit 92
"""
#: configuration -> kernel variant, first lines of the script, wrapper of the program, copies of the tables
REPLICA_CONFIGS = {
    "unpatched": ("plain", REFUSED_SCRIPT, "", 1),
    "off": ("measure", "", "", 1),
    "on, not replicated": ("measure", REPLICATION_ON, "", 1),
    "replicated": ("measure", REPLICATION_ON, "pgtblrepl -r 0-3", 4),
}


def config_folder_name(config: str) -> str:
    """Name of a configuration's folder."""
    return config.replace(",", "").replace(" ", "-")


def script_failed(what: str, done: GuestRun) -> TesseraError:
    """The error for a script that failed in the guest."""
    return TesseraError(
        what,
        f"the script in the guest exited with status {done.status}: {done.text('stderr').strip()[-300:]}",
        f"read the files of {done.folder}",
        exit_code=EXIT_FAILED,
    )
