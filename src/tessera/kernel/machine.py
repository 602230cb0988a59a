"""The machine that QEMU emulates: sockets, each with its own memory, as files that other processes can read.

Translation by TCG needs no privileges and no virtualisation of the host, but has no caches, no NUMA latency
and no meaningful cycles. It can measure page tables and, under ``icount``, instructions.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError

#: One processor for every measurement: its features decide which string instructions the kernel uses.
#: Without ERMS, because QEMU counts each byte of a `rep stosb` as an instruction: clearing a page would
#: weigh 4096.
PROCESSOR = "Haswell-noTSX,-erms"

#: On a busy host a virtual processor may wait for half a minute, with a lock held: no lock-up of the guest.
#: And the emulator's timer may be late at boot: Linux would call it broken, and panic.
PATIENCE = "no_timer_check watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=300"


@dataclass(frozen=True)
class Machine:
    """The emulated machine.

    Attributes:
        nodes: sockets, each a NUMA node.
        cpus: processors, spread over the nodes in blocks; 1 is on node 0, and the others have memory only.
        memory_mb: memory in MB (2^20 bytes), the same on each node.
        memoryless: nodes without memory, at the end.
        icount: count instructions; one processor runs at a time and runs repeat exactly.
        low_mb: memory below 4 GB in MB, of all nodes; the rest is above. 0: as QEMU splits it.
    """

    nodes: int = 4
    cpus: int = 4
    memory_mb: int = 2048
    memoryless: int = 0
    icount: bool = False
    low_mb: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.nodes <= 16:
            raise TesseraError(
                f"a machine of {self.nodes} nodes", "the kernel supports 1 to 16 nodes", "give --nodes 4"
            )
        if self.cpus != 1 and (self.cpus < self.nodes or self.cpus % self.nodes):
            raise TesseraError(
                f"{self.cpus} processors on {self.nodes} nodes",
                "each node needs the same number of processors, at least 1; or the machine has 1 in total",
                f"give --cpus {self.nodes}",
            )
        if self.memory_mb // self.filled < 128:
            raise TesseraError(
                f"{self.memory_mb} MB on {self.nodes} nodes",
                "each node with memory needs at least 128 MB",
                "give a larger --memory-mb",
            )

    @property
    def filled(self) -> int:
        """Nodes that have memory."""
        return self.nodes - self.memoryless

    @property
    def node_bytes(self) -> int:
        """Memory of a node, a multiple of 2 MB."""
        return self.memory_mb // self.filled // 2 * 2 << 20

    def _processors(self) -> str:
        return f"{self.cpus},sockets={self.nodes}" if self.cpus > 1 else "1"

    def memory_file(self, folder: Path, node: int) -> Path:
        """The file that is the memory of a node while the guest runs."""
        return folder / f"node{node}.memory"

    def command(self, folder: Path, kernel: Path, initrd: Path, append: str = "") -> list[str]:
        """QEMU's argument list; sockets, console and memory are files of ``folder``."""
        per_node = self.cpus // self.nodes
        command = ["qemu-system-x86_64", "-nodefaults", "-display", "none", "-no-reboot"]
        border = f",max-ram-below-4g={self.low_mb}M" if self.low_mb else ""
        command += ["-machine", f"pc{border}", "-cpu", PROCESSOR, "-smp", self._processors()]
        command += ["-accel", f"tcg,thread={'single' if self.icount else 'multi'}"]
        if self.icount:
            command += ["-icount", "shift=0,sleep=off"]
        command += ["-m", f"{self.node_bytes * self.filled}B"]
        for node in range(self.nodes):
            first = node * per_node
            cpus = f",cpus={first}-{first + per_node - 1}" if per_node else ",cpus=0" if node == 0 else ""
            if node < self.filled:
                path = self.memory_file(folder, node)
                backend = f"memory-backend-file,id=mem{node},size={self.node_bytes},mem-path={path},share=on"
                command += ["-object", backend, "-numa", f"node,nodeid={node}{cpus},memdev=mem{node}"]
            else:
                command += ["-numa", f"node,nodeid={node}{cpus}"]
        for one in range(self.nodes):
            for other in range(one + 1, self.nodes):
                command += ["-numa", f"dist,src={one},dst={other},val=21"]
        command += ["-kernel", str(kernel), "-initrd", str(initrd)]
        command += ["-append", f"console=ttyS0 panic=-1 oops=panic nokaslr {PATIENCE} {append}".strip()]
        command += ["-serial", f"file:{folder / 'console'}"]
        command += ["-chardev", f"socket,id=channel,path={folder / 'channel'},server=on,wait=on"]
        command += ["-serial", "chardev:channel"]
        return [*command, "-qmp", f"unix:{folder / 'monitor'},server=on,wait=off"]
