"""Properties of this machine that results depend on (Linux)."""

from __future__ import annotations

import platform
from pathlib import Path

from tessera.machine.limits import machine_processors


def describe(root: Path = Path("/")) -> dict:
    """Processor, cores, memory, kernel, hypervisor, huge-page state; ``None`` if unknown."""
    info = _cpuinfo(root)
    flags = set(info.get("flags", "").split())
    memory = _meminfo(root)
    return {
        "cpu_model": info.get("model name"),
        "cpu_family_model_stepping": [info.get(k) for k in ("cpu family", "model", "stepping")],
        "cores": machine_processors(),
        "memory_bytes": memory.get("MemTotal"),
        "architecture": platform.machine(),
        "kernel": platform.release(),
        "hypervisor": _hypervisor(root, flags),
        "pages_1gb": "pdpe1gb" in flags,
        "transparent_huge_pages": _chosen(root / "sys/kernel/mm/transparent_hugepage/enabled"),
        "huge_pages_2mb_reserved": _count(root, 2048),
        "huge_pages_1gb_reserved": _count(root, 1048576),
        "pmu": (root / "sys/bus/event_source/devices/cpu").exists(),
    }


def _cpuinfo(root: Path) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in _read(root / "proc/cpuinfo").split("\n\n")[0].splitlines():
        key, _, value = line.partition(":")
        fields[key.strip()] = value.strip()
    return fields


def _meminfo(root: Path) -> dict[str, int]:
    sizes = {}
    for line in _read(root / "proc/meminfo").splitlines():
        parts = line.replace(":", "").split()
        if len(parts) == 3 and parts[2] == "kB":
            sizes[parts[0]] = int(parts[1]) * 1024
    return sizes


def _hypervisor(root: Path, flags: set[str]) -> str:
    if "hypervisor" not in flags:
        return "none"
    kind = _read(root / "sys/hypervisor/type").strip()
    return kind or "yes (not named)"


def _chosen(path: Path) -> str | None:
    """``madvise`` of ``always [madvise] never``."""
    words = [word for word in _read(path).split() if word.startswith("[")]
    return words[0].strip("[]") if words else None


def _count(root: Path, kilobytes: int) -> int | None:
    text = _read(root / f"sys/kernel/mm/hugepages/hugepages-{kilobytes}kB/nr_hugepages").strip()
    return int(text) if text.isdigit() else None


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
