"""Validation tables of a synthetic results tree: a chase with one step, two marks, three judged layouts."""

from __future__ import annotations

from pathlib import Path

from tessera.core.results import machine_tables

from .tables import put

FOOTPRINTS = (16, 64, 128, 512)


def write(root: Path) -> None:
    """Write the tables that figures read below ``root``/validation."""
    latency = [
        {
            "source": source,
            "provenance": "measured" if source == "measured" else "simulated",
            "series": series,
            "elements": n,
            "chains": 1,
            "cycles": 5.0 if n <= 64 else high,
        }
        for source, high in (("measured", 12.0), ("host-sim", 11.0), ("host-calibrated", 12.0))
        for series in ("pages", "lines")
        for n in FOOTPRINTS
    ]
    put(root, machine_tables.LATENCY, latency)
    step = dict.fromkeys(machine_tables.STEPS.names, 7.0) | {
        "source": "measured",
        "series": "pages",
        "step": 1,
        "what": "L1 DTLB, 4KB pages",
        "key": "tlb.l1d.4kb.entries",
        "entries": 90.0,
        "above_cycles": 12.0,
        "file_source": "CPUID of this machine",
    }
    put(root, machine_tables.STEPS, [step])
    judged = [
        dict.fromkeys(machine_tables.MOSAICS.names, 0.0)
        | {
            "runtime_provenance": "measured",
            "platform": platform,
            "layout": layout,
            "measured_delta": measured,
            "measured_ci95": 0.004,
            "simulated_delta": measured * factor,
        }
        for platform, factor in (("host-sim", 1.3), ("host-calibrated", 1.1))
        for layout, measured in (("growing-0", 0.0), ("growing-4", -0.05), ("growing-8", -0.1))
    ]
    put(root, machine_tables.MOSAICS, judged)
    _write_clock(root)


def _write_clock(root: Path) -> None:
    """A mark of each half and a program, measured and simulated with 4KB pages, skipped with 2MB pages."""
    sources = (("native", "measured", 100.0), ("host-calibrated", "simulated", 104.0))

    def rows(head: dict) -> list[dict]:
        found = []
        for source, provenance, cycles in sources:
            both = head | {"source": source, "provenance": provenance}
            numbers = {"cycles": cycles, "low_cycles": cycles - 1, "high_cycles": cycles + 1, "runs": 9}
            found.append(both | numbers | {"pages": "4KB", "status": "ok", "message": ""})
            found.append(both | {"pages": "2MB", "status": "skipped", "message": "no 2MB pages are reserved"})
        return found

    marks = [
        row
        for name, half in (("push-pop", "judge"), ("chain-alu", "calibrate"))
        for row in rows({"mark": name, "family": "calls", "half": half})
    ]
    put(root, machine_tables.CLOCK_MARKS, marks)
    put(root, machine_tables.CLOCK_PROGRAMS, rows({"program": "gups-64mb"}))
    key = ("core.latency.alu", "1", "1", "chain-alu", "chain-alu takes 1 cycles a unit")
    put(root, machine_tables.CLOCK_KEYS, [key])
