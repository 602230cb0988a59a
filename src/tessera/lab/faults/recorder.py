"""Record page faults of Linux 6.12: boot the guest with the plugin, run the program that makes the faults.

The machine has one processor, one node and 1 GB below 3 GB, because QEMU 7.2 gives plugins physical addresses
only for memory in one block. Instructions are counted (``-icount``): a run depends on no clock of the host.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import build_dir, built, repo_root
from tessera.lab.faults.guest_facts import GuestReader, symbols_of
from tessera.lab.faults.recorded_faults import Dropped, Fault, counts_of_fault, faults_of_lines
from tessera.lab.faults.recording import Facts, RecordedFaults, Structures, choose, with_structures
from tessera.lab.kernel import image
from tessera.lab.kernel.guest import GuestProgram, Look, run_in_guest
from tessera.lab.kernel.qemu import EmulatedMachine
from tessera.machine.container.build import build_component
from tessera.machine.container.toolchain import Toolchain

COMPONENT, PROGRAM = "kernel-stream", "fault-kinds"
FIRST_TOUCH, END_OF_TOUCHES = "touches_begin", "touches_end"
#: Entries of interrupts and exceptions in the kernel, by the start of their symbol.
ENTRIES = ("asm_sysvec_", "asm_exc_")
SECONDS = 600
SCRIPT = """\
chmod +x /run/fault-kinds
echo 100000000 > /sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs
echo 3600 > /proc/sys/vm/stat_interval
mke2fs -b 4096 /dev/ram0 16384 > /dev/null || exit 1
mount -t ext2 /dev/ram0 /mnt || exit 1
# A process of a distribution is in a memory cgroup.
mkdir /tmp/group
mount -t cgroup2 none /tmp/group || exit 1
echo +memory > /tmp/group/cgroup.subtree_control || exit 1
mkdir /tmp/group/one
echo $$ > /tmp/group/one/cgroup.procs || exit 1
sleep 1
/run/fault-kinds /mnt/file
"""


@dataclass(frozen=True)
class RecordingMachine(EmulatedMachine):
    """A machine with the plugin.

    Attributes:
        plugin: its file.
        settings: addresses for it.
    """

    plugin: Path = Path()
    settings: Path = Path()

    def command(self, folder: Path, kernel: Path, initrd: Path, append: str = "") -> list[str]:
        """QEMU's argument list."""
        plugin = ["-plugin", f"{self.plugin},settings={self.settings}"]
        return [*super().command(folder, kernel, initrd, append), *plugin]


def settings_text(kernel: dict[str, int], program: dict[str, int], out: Path) -> str:
    """The plugin's settings (``artifacts/kernel-stream/plugin/settings.h``)."""
    entry = "asm_exc_page_fault"
    interrupts = [
        address for name, address in sorted(kernel.items()) if name.startswith(ENTRIES) and name != entry
    ]
    lines = [f"out {out}", f"entry {kernel[entry]:x}", f"return {kernel['native_irq_return_iret']:x}"]
    lines += [f"schedule {kernel['__schedule']:x}", *(f"interrupt {address:x}" for address in interrupts)]
    lines.append(f"vectors {kernel['irq_entries_start']:x} {kernel['asm_exc_divide_error']:x}")
    lines.append(f"touch {program[FIRST_TOUCH]:x} {program[END_OF_TOUCHES]:x}")
    return "\n".join(lines) + "\n"


def kinds_of(program: dict[str, int]) -> dict[int, str]:
    """Kinds by the address of their instruction: ``touch_write_4kb`` is ``write-4kb``."""
    found = {
        address: name.removeprefix("touch_").replace("_", "-")
        for name, address in program.items()
        if name.startswith("touch_")
    }
    return dict(sorted(found.items()))


def record_faults(out: Path, say: Callable[[str], None], *, accept_series: bool = False) -> RecordedFaults:
    """Build everything, record, and write the folder ``out``.

    Raises:
        TesseraError: the guest failed, or a kind has no fault.
    """
    build_component(COMPONENT, say)
    guest = image.guest_program("oracle", say, accept_series=accept_series)
    tools, folder = image.kernel_tools(say), build_dir(COMPONENT) / "run"
    folder.mkdir(parents=True, exist_ok=True)
    structs = _structs(tools, guest)
    kernel, program = symbols_of(guest.kernel.parent / "System.map"), _program_symbols(tools)
    raw = folder / "raw.txt"
    (folder / "settings.txt").write_text(settings_text(kernel, program, raw))
    machine = RecordingMachine(
        nodes=1, cpus=1, memory_mb=1024, icount=True,
        plugin=built(COMPONENT, "libtessera-kernel-stream.so"), settings=folder / "settings.txt",
    )  # fmt: skip
    found: list[Facts] = []

    def look(look: Look) -> bool:
        found.append(GuestReader(kernel, structs, look, machine.memory_mb << 8, PROGRAM).facts())
        return False

    say("the guest, with every instruction of its faults recorded")
    done = run_in_guest(
        tools, guest, SCRIPT, folder / "guest", machine=machine, timeout_seconds=SECONDS,
        files={f"/run/{PROGRAM}": built(COMPONENT, PROGRAM).read_bytes()}, on_walk=look,
    )  # fmt: skip
    if done.status or done.warnings or not found:
        raise TesseraError(
            "a recording of faults",
            f"status {done.status}; kernel: {done.warnings[:3]}; {done.text('stderr')[-300:]}",
            f"read the files in {done.folder}",
            exit_code=EXIT_FAILED,
        )
    facts = {
        "kernel": done.release,
        "configuration": "artifacts/kernel/config: base, oracle",
        "machine": {key: value for key, value in asdict(machine).items() if not isinstance(value, Path)},
    }
    recording = _read(raw, kinds_of(program), Structures(found[0]), facts)
    recording.save(out, kinds_of(program))
    return recording


def _read(raw: Path, kinds: dict[int, str], structures: Structures, facts: dict) -> RecordedFaults:
    """Counts of all faults, then the chosen ones with names: the recording is too large to keep."""
    dropped = Counter()
    counts = {name: [] for name in kinds.values()}
    for kind, number, fault in _numbered(raw, kinds):
        if isinstance(fault, Dropped):
            dropped[f"{kind}: {fault.reason}"] += 1
        else:
            counts[kind].append(counts_of_fault(fault, number))
    empty = [name for name, all_ in counts.items() if not all_]
    if empty:
        raise TesseraError(
            "a recording of faults",
            f"no fault of {', '.join(empty)}; dropped: {dict(dropped)}",
            f"read {raw}",
            exit_code=EXIT_FAILED,
        )
    wanted = {name: {all_[at].number for at in choose(all_)} for name, all_ in counts.items()}
    chosen = {name: [] for name in counts}
    for kind, number, fault in _numbered(raw, kinds):
        if number in wanted[kind] and isinstance(fault, Fault):
            chosen[kind].append(with_structures(fault, kind, structures))
    return RecordedFaults(facts | {"dropped": dict(dropped)}, chosen, counts)


def _numbered(raw: Path, kinds: dict[int, str]) -> Iterator[tuple[str, int, Fault | Dropped]]:
    """Kind, number in its kind, and fault."""
    seen = Counter()
    with raw.open() as stream:
        for fault in faults_of_lines(stream, str(raw)):
            kind = kinds[fault.pc]
            yield kind, seen[kind], fault
            seen[kind] += 1


def _structs(tools: Toolchain, guest: GuestProgram) -> dict:
    """Layouts of the kernel's structs."""
    script = repo_root() / "artifacts" / COMPONENT / "describe.py"
    vmlinux = guest.kernel.parent / "vmlinux"
    return json.loads(tools.run(["python3", script, vmlinux], [guest.kernel.parent], capture=True).stdout)


def _program_symbols(tools: Toolchain) -> dict[str, int]:
    """Symbols of the guest's program."""
    done: subprocess.CompletedProcess = tools.run(["nm", built(COMPONENT, PROGRAM)], capture=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}
