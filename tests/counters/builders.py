"""Logs of perf made from numbers, for tests."""

from __future__ import annotations

from pathlib import Path

LOGS = Path(__file__).with_name("logs")
EXTRACTS = Path(__file__).with_name("extracts")

#: One run on Broadwell: R, instructions, and H, M, C by loads and stores. H = 1.2e6, M = 5.7e6, C = 1.8e8.
RUN = {
    "cycles:u": 4_000_000_000,
    "instructions:u": 6_000_000_000,
    "H_loads_u": 1_000_000,
    "H_stores_u": 200_000,
    "M_loads_u": 5_000_000,
    "M_stores_u": 700_000,
    "C_loads_u": 150_000_000,
    "C_stores_u": 30_000_000,
}


def line(event: str, value: object, running_ns: int = 2_000_000_000, percent: str = "100.00") -> str:
    """A row of ``perf stat -x\\;``."""
    return f"{value};;{event};{running_ns};{percent};;"


def text(counts: dict[str, object]) -> str:
    """A log with these counts."""
    return (
        "# started on Mon Jan 29 10:12:07 2018\n\n" + "\n".join(line(e, v) for e, v in counts.items()) + "\n"
    )


def write(path: Path, counts: dict[str, object] = RUN, **changes: object) -> Path:
    """A log file of :data:`RUN` with changes; a change to None leaves an event out."""
    merged = {event: value for event, value in (counts | changes).items() if value is not None}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(merged))
    return path
