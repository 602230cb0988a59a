"""The journal of real runs without counters: rows of ``runs.csv``, and what is shown of each run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tessera.measure.counted.launched import Ended
from tessera.measure.log import LoggedRun, RunLog
from tessera.results.status import FAILED, OK, is_ok


class ClockJournal:
    """A :class:`tessera.measure.counted.turns.Journal` of one workload. ``runs``: usable ones, old and new.

    Runs of an earlier process are usable if they succeeded and have the key of their layout now.
    """

    def __init__(self, log: RunLog, workload: str, keys: Mapping[str, str], say: Callable[[str], None]):
        self._log, self._workload, self._keys, self._say = log, workload, keys, say
        self.runs = [one for one in log.read() if keys.get(one.layout) == one.key and is_ok(one.status)]
        if self.runs:
            say(f"{len(self.runs)} finished runs of an earlier start are used again")

    def found(self, layout: str, number: int) -> dict[str, int]:
        """Nothing: rounds are never continued (:mod:`tessera.measure.log`)."""
        return {}

    def keep(self, layout: str, number: int, name: str, ended: Ended) -> None:
        """Append the run to the file, and show it."""
        status, time_ns = (FAILED, None) if ended.message else (OK, ended.counts.region_ns)
        run = LoggedRun(self._keys[layout], self._workload, layout, number, status, ended.message, time_ns)
        self._log.append(run)
        self.runs.append(run)
        shown = ended.message or f"{ended.counts.region_ns / 1e9:.3f} s"
        self._say(f"round {number + 1}, {layout}: {shown}")
