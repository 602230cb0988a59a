"""A machine as files, 64 GB with 48 GB available, whose cgroups the tests describe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tessera.core.units import GB, KB

TOTAL, AVAILABLE = 64 * GB, 48 * GB
NONE_V1 = str((1 << 63) - 4096)  #: how version 1 writes that there is no limit
SERVICE = "/system.slice/x.service"

#: As systemd mounts them: version 2 alone, version 1 alone, and memory in version 1 beside version 2.
V2 = ("cgroup2 / /sys/fs/cgroup rw,nsdelegate",)
V1 = (
    "cgroup / /sys/fs/cgroup/memory rw,memory",
    "cgroup / /sys/fs/cgroup/cpu,cpuacct rw,cpu,cpuacct",
    "cgroup / /sys/fs/cgroup/hugetlb rw,hugetlb",
    "cgroup / /sys/fs/cgroup/systemd rw,xattr,name=systemd",
)
HYBRID = (V1[0], V1[3], "cgroup2 / /sys/fs/cgroup/unified rw")
IN_V1 = (
    f"9:memory:{SERVICE}",
    f"5:cpu,cpuacct:{SERVICE}",
    f"3:hugetlb:{SERVICE}",
    "1:name=systemd:/elsewhere",
)


def write(root: Path, member: Sequence[str], mounts: Sequence[str], files: Mapping[str, object]) -> Path:
    """The machine below ``root``.

    Args:
        member: lines of ``/proc/self/cgroup``.
        mounts: type, top cgroup, folder and options of mounts.
        files: content by name below ``/sys/fs/cgroup``; None makes a folder, which cannot be read as a file.
    """
    proc = root / "proc/self"
    proc.mkdir(parents=True, exist_ok=True)
    rows = {"MemTotal": TOTAL, "MemFree": GB, "MemAvailable": AVAILABLE}
    meminfo = "".join(f"{name + ':':<15} {value // KB} kB\n" for name, value in rows.items())
    (root / "proc/meminfo").write_text(f"{meminfo}HugePages_Total:       0\n")
    (proc / "cgroup").write_text("".join(f"{line}\n" for line in member))
    lines = ["22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw", "a line of another form"]
    for number, mount in enumerate(mounts):
        kind, top, folder, options = mount.split(" ")
        before = f"{30 + number} 22 0:28 {top} {folder} rw,nosuid shared:9 master:2"
        lines.append(f"{before} - {kind} {kind} {options}")
        (root / folder.replace("\\040", " ").lstrip("/")).mkdir(parents=True, exist_ok=True)
    (proc / "mountinfo").write_text("".join(f"{line}\n" for line in lines))
    for name, content in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir()
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(f"{content}\n")
    return root
