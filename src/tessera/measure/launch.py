"""One run of the workload under libmosalloc and one layout, with checked page sizes and a verified result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tessera.machine.container import toolchain
from tessera.measure.identity import launcher
from tessera.measure.start import start


@dataclass(frozen=True)
class LaunchOutcome:
    """``runtime_ns`` of the region of interest, or why there is none."""

    runtime_ns: int | None
    message: str = ""


def launch(command: list[str], layout: Path) -> LaunchOutcome:
    """Run ``command`` once under ``layout``.

    The launcher ends with an error when the program's pages were not the ones asked for, so a time
    that comes back was taken on exactly this mosaic.
    """
    end = start(toolchain(), launcher(), layout, command)
    return judge(end.status, end.output, end.errors)


def judge(status: int, output: str, errors: str) -> LaunchOutcome:
    """The result of a finished run: its exit status and verifier are checked before its time is used."""
    if status != 0:
        return LaunchOutcome(None, f"status {status}: {last_words(errors) or 'no message'}")
    lines = output.strip().splitlines()
    try:
        result = json.loads(lines[-1]) if lines else None
    except ValueError:
        result = None
    if not isinstance(result, dict):
        return LaunchOutcome(None, "no JSON line at the end of its output")
    if result.get("verified") is not True:
        return LaunchOutcome(None, "its answer was not verified")
    runtime = result.get("roi_ns")
    if not isinstance(runtime, int) or runtime <= 0:
        return LaunchOutcome(None, f"roi_ns is {runtime}, not a positive number")
    return LaunchOutcome(runtime)


def last_words(errors: str) -> str:
    """The last line of an error output that is not a remedy (those follow the finding)."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    findings = [line for line in lines if not line.startswith("what to do:")]
    return (findings or lines or [""])[-1]
