"""Random logs in every form that ``perf stat`` has, and damaged ones: the true counts, or a refusal."""

from __future__ import annotations

import random
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.counters.event_table import class_named
from tessera.machine.perf.log import read_log
from tessera.measure.perf_log_counts import totals_of
from tests.measure.mutated import mutated

from . import slow_reader
from .stat_text import CLOCK, EVENTS, LANGUAGES, PARTS, SEPARATORS, Options, drawn, written

LOGS, DAMAGED = 600, 500


def true_counts(log) -> dict[str, Decimal]:
    """As perf prints them: the clock in msec."""
    return {event: Decimal(count) / (1000 if event == CLOCK else 1) for event, count in log.counts.items()}


def read_counts(path: Path) -> dict[str, Decimal]:
    found: dict[str, Decimal] = defaultdict(Decimal)
    for row in read_log(path):
        found[row.event] += row.value or 0
    return dict(found)


def test_each_log_is_read_right_or_refused(tmp_path):
    """Which logs are refused is known in advance; of all others every count is read."""
    seen, wrong = set(), []
    for seed in range(LOGS):
        rng = random.Random(seed)
        options = drawn(rng)
        log = written(rng, options)
        path = tmp_path / "log"
        path.write_bytes(log.data)
        try:
            found = read_counts(path)
        except TesseraError as error:
            found = error
        good = isinstance(found, TesseraError) if options.refused else found == true_counts(log)
        if not good:
            wrong.append(f"seed {seed}: {options.refused}; {found}; true {true_counts(log)}")
        if not options.refused:
            seen |= {(name, str(value)) for name, value in vars(options).items()}
    assert not wrong, "\n".join(wrong[:5])
    values = {"form": ("table", "-j", *SEPARATORS), "language": LANGUAGES, "parts": PARTS}
    assert {(name, value) for name, all_of in values.items() for value in all_of} <= seen
    assert {("summary", "word"), ("summary", "plain"), ("noise", "True"), ("metrics", "True")} <= seen
    assert {("encoding", "utf-16"), ("encoding", "utf-8-sig"), ("line_end", "\r\n"), ("runs", "3")} <= seen


@pytest.mark.parametrize("form", ["table", "-j", ";", ","])
@pytest.mark.parametrize("second", ["append", "shell"])
@pytest.mark.parametrize("intervals", [0, 2])
def test_two_runs_are_refused_by_name(tmp_path, form, second, intervals):
    log = written(random.Random(1), Options(form, second=second, intervals=intervals))
    (tmp_path / "log").write_bytes(log.data)
    with pytest.raises(TesseraError) as error:
        read_log(tmp_path / "log")
    assert error.value.code == "perf-two-runs" and "line" in error.value.asked


def counted(options: Options) -> bool:
    """Whether the import of a program's counts takes such a log, with ``--sum-parts``."""
    return not options.refused and not options.cgroup and options.percent != 66.67


def damaged(rng: random.Random, data: bytes, encoding: str) -> bytes:
    """One to three changes that keep most of the text: lines and digits, or bytes."""
    if rng.random() < 0.5:
        return mutated(rng, data)
    lines = data.decode(encoding).splitlines(keepends=True)
    for _ in range(rng.randrange(1, 4)):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        change = rng.randrange(5)
        if change == 0 and len(lines) > 1:
            del lines[at]
        elif change == 1:
            lines.insert(other, lines[at])
        elif change == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif change == 3:
            places = [n for n, char in enumerate(lines[at]) if char.isdigit()] or [0]
            place = rng.choice(places)
            new = rng.choice(("", *"0123456789", "12", ".", ",", " "))
            lines[at] = lines[at][:place] + new + lines[at][place + 1 :]
        else:
            lines = lines[: at + 1]
            lines[-1] = lines[-1][: rng.randrange(len(lines[-1]) + 1)]
        lines = lines or [""]
    return "".join(lines).encode(encoding)


def wrong_counts(seed: int, path: Path) -> tuple[str, str]:
    """(outcome, what is wrong) of a damaged log."""
    rng = random.Random(seed)
    options = next(options for options in iter(lambda: drawn(rng), None) if counted(options))
    log = written(rng, options)
    data = damaged(rng, log.data, options.encoding)
    path.write_bytes(data)
    try:
        totals = totals_of(path, class_named("broadwell"), sum_parts=True)
    except TesseraError:
        return "refused", ""
    true = true_counts(log)
    others = {total.text: total.value for total in totals if total.value != true.get(total.text)}
    if not others:
        return "true", ""
    meant = slow_reader.meaning(options, data)
    if meant is not None and all(meant.get(event) == value for event, value in others.items()):
        return "meant", ""
    return "wrong", f"seed {seed}: {options}: read {others}, meant {meant}, true {true}"


def test_damaged_logs_never_give_a_wrong_number(tmp_path):
    """A count that differs from the true one is what an independent slow reader sees in the damaged text."""
    found = [wrong_counts(seed, tmp_path / "log") for seed in range(DAMAGED)]
    assert not [text for _, text in found if text]
    outcomes = [outcome for outcome, _ in found]
    assert outcomes.count("refused") > DAMAGED // 4 and outcomes.count("true") > DAMAGED // 10
    assert outcomes.count("meant") > 5


def test_the_slow_reader_reads_what_is_not_damaged():
    rng = random.Random(7)
    for _ in range(200):
        options = drawn(rng)
        if counted(options):
            log = written(rng, options)
            assert slow_reader.meaning(options, log.data) == true_counts(log), options
    assert len(EVENTS) == 8
