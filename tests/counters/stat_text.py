"""An own writer of what ``perf stat`` prints: true counts and options in, the text of a log out.

It knows nothing of the readers. Widths, orders and decimals are those that perf 6.1 printed for software
events; hardware events, hybrid cores and multiplexed counts follow tools/perf/util/stat-display.c.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

#: Decimal mark, mark of groups, sizes of groups from the right (the last one repeats) of languages.
LANGUAGES = {
    "C": (".", "", ()),
    "en_US": (".", ",", (3,)),
    "en_IN": (".", ",", (3, 2)),
    "de_DE": (",", ".", (3,)),
    "de_CH": (".", "\u2019", (3,)),
    "fr_FR": (",", "\u202f", (3,)),
    "fr_FR, old": (",", " ", (3,)),
    "bg_BG": (",", "\u00a0", (3,)),
    "it_CH, old": (".", "'", (3,)),
}
PARTS = {
    "": [""],
    "-A": ["CPU0", "CPU1", "CPU12"],
    "--per-core": ["S0-D0-C0", "S0-D0-C1"],
    "--per-socket": ["S0", "S1"],
    "--per-die": ["S0-D0", "S0-D1"],
    "--per-node": ["N0", "N1"],
    "--per-cluster": ["S0-D0-CLS0", "S0-D0-CLS1"],
    "--per-cache": ["S0-D0-L3-ID0", "S0-D0-L3-ID4"],
    "--per-thread": ["prog-4242", "kworker/1:0-events-23"],
}
KEYS = {"-A": "cpu", "--per-thread": "thread"} | {
    f"--per-{name}": name for name in ("core", "socket", "die", "node", "cluster", "cache")
}
SEPARATORS = (";", ",", "|", "\t", ":", " ", "::", "!", "#", "%", "@")
CLOCK = "task-clock"
#: Of Broadwell: R, instructions, and H, M, C by alias, by code and by terms with commas.
EVENTS = (
    "cycles:u", "instructions:u", "H_loads_u", "r6049:u", "cpu/event=0x08,umask=0xe/u", "M_stores_u",
    "C_loads_u",
    "cpu/event=0x49,umask=0x10/u",
)  # fmt: skip
#: What programs print: words, numbers, tables, progress, JSON.
NOISE = (
    "hello", "   100 iterations", "Time: 1,234.56 s", "1,2,3.50,4", "a;b;c", "cycles: 5", "cycles 17",
    "50%\r100%",
    '{"event": "start", "time": 1}', '{"a": [1, 2]}', "1234567890", "0.5", "# comment", "GFLOPS\t12.5",
    "x: 1: 2: 3",
    "\x1b[31mred\x1b[0m", "5 page-faults", "        1,000      iterations", "| 1 | 2 |", "µs: 3",
    "[ 12%] done",
    "4000000000", "  7 cycles:u seen", "12.345 seconds",
)  # fmt: skip


@dataclass
class Options:
    """How a log is recorded; ``form`` is ``table``, ``-j`` or a separator of ``-x``."""

    form: str = ";"
    language: str = "C"
    intervals: int = 0
    idle: tuple[int, ...] = ()
    summary: str = ""  #: of intervals: ``word``, ``plain`` or empty
    runs: int = 1  #: of ``-r``
    parts: str = ""
    cgroup: str = ""
    percent: float = 100.0  #: of the first event
    noise: bool = False
    metrics: bool = False  #: further metrics on lines of their own (``-d``, ``-M``)
    glued: str = ""  #: output of the program before the first row, without a line end
    second: str = ""  #: another run behind it: ``append`` (``-o``) or ``shell`` (``>>``)
    header: bool = True
    encoding: str = "utf-8"
    line_end: str = "\n"
    colours: bool = False

    @property
    def refused(self) -> str:
        """Why no reader can count this, empty if it can."""
        point = LANGUAGES[self.language][0]
        if self.second:
            return "two runs"
        if self.form == "," and point == ",":
            return "decimal commas between commas"
        if self.form == "table" and self.parts:
            return "parts in the table for people"
        if self.form == ":" and self.parts == "--per-thread":
            return "a name of a thread with the separator"
        if self.runs > 1 and self.intervals:
            return "-r with -I"
        alone = not self.intervals and (self.parts != "--per-thread" or self.form == " ")
        if self.glued and self.form not in ("table", "-j") and alone:
            return "the program's output on a line with a count"
        return ""


def drawn(rng: random.Random) -> Options:
    """Random options; every value of every option comes up."""
    form = rng.choice(("table", "table", "-j", "-j", *SEPARATORS))
    made = Options(form, rng.choice(tuple(LANGUAGES)))
    if rng.random() < 0.5:
        made.intervals = rng.randrange(1, 5)
        made.idle = tuple(n for n in range(1, made.intervals) if rng.random() < 0.3)
        made.summary = rng.choice(("", "word", "plain"))
    made.runs = rng.choice((1, 1, 1, 3)) if not made.intervals or rng.random() < 0.1 else 1
    made.parts = rng.choice(("", "", *PARTS))
    made.cgroup = rng.choice(("", "", "", "/", "/user.slice"))
    made.percent = rng.choice((100.0, 100.0, 66.67, 99.95))
    made.noise, made.metrics = rng.random() < 0.5, rng.random() < 0.2
    made.glued = rng.choice(("Time: 1,234 s", "done ", "7.", *[""] * 9))
    made.second = rng.choice(("append", "shell", *[""] * 8))
    made.header = rng.random() < 0.5
    made.encoding = rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16"))
    made.line_end = rng.choice(("\n", "\n", "\r\n"))
    made.colours = made.form == "table" and rng.random() < 0.2
    return made


@dataclass
class Log:
    """``data`` of a file, and the true ``counts`` by event (sums over parts)."""

    options: Options
    data: bytes
    counts: dict[str, int]


@dataclass
class Writer:
    """Prints rows in the form of ``options``."""

    options: Options
    lines: list[str] = field(default_factory=list)

    def number(self, value: float, places: int) -> str:
        """As ``%'.Nf`` of C in the language."""
        point, group, sizes = LANGUAGES[self.options.language]
        whole, _, rest = f"{value:.{places}f}".partition(".")
        pieces, sizes = [], list(sizes)
        while group and self.options.form == "table" and len(whole) > sizes[0]:
            whole, piece = whole[: -sizes[0]], whole[-sizes[0] :]
            pieces.insert(0, piece)
            sizes = sizes[1:] or sizes
        return group.join([whole, *pieces]) + (point + rest if rest else "")

    def row(self, event: str, value: int | None, part: str, time: str) -> None:
        """One row; ``value`` None is ``<not counted>``. The clock is in microseconds, perf prints msec."""
        options, clock = self.options, event == CLOCK
        percent = options.percent if event == EVENTS[0] and value is not None else 100.0
        running = 0 if value is None else 2_000_000_000
        places = 2 if clock else 0
        shown = value / 1000 if clock and value is not None else value
        if options.form == "table":
            text = "<not counted>" if value is None else self.number(shown, places)
            self.lines.append(
                (f"{time:>16} " if time else "") + (f"{part:<10} " if part else "")
                + f"{text:>18} {'msec' if clock else '':<4} {event:<25}"
                + (f" {options.cgroup:<16}" if options.cgroup else "")
                + (self._colour(f" # {self.number(1.234, 3):>8} G/sec                 "))
                + (f"  ( +-{self.number(1.5, 2):>6}% )" if options.runs > 1 else "")
                + (f"  ({self.number(percent, 2)}%)" if percent != 100 else "")
            )  # fmt: skip
            return
        text = "<not counted>" if value is None else self.number(shown, 6 if options.form == "-j" else places)
        if options.form == "-j":
            fields = ([f'"interval" : {time}'] if time else []) + (
                [f'"{KEYS[options.parts]}" : "{part}"'] if part else []
            )
            fields += [
                f'"counter-value" : "{text}"',
                f'"unit" : "{"msec" if clock else ""}"',
                f'"event" : "{event}"',
            ]
            fields += [f'"cgroup" : "{options.cgroup}"'] if options.cgroup else []
            fields += [f'"variance" : {self.number(1.5, 2)}'] if options.runs > 1 else []
            fields += [f'"event-runtime" : {running}', f'"pcnt-running" : {self.number(percent, 2)}']
            fields += [f'"metric-value" : {self.number(1.234, 6)}', '"metric-unit" : "G/sec"']
            self.lines.append("{" + ", ".join(fields) + "}")
            return
        fields = ([f"{time:>16}"] if time else []) + ([part] if part else [])
        fields += ["2"] if part and options.parts not in ("-A", "--per-thread") else []
        fields += [text, "msec" if clock else "", event] + ([options.cgroup] if options.cgroup else [])
        fields += [self.number(1.5, 2) + "%"] if options.runs > 1 else []
        fields += [str(running), self.number(percent, 2), self.number(1.234, 3).split(",")[0], "G/sec"]
        self.lines.append(options.form.join(fields))

    def metric(self, part: str, time: str) -> None:
        """A line with a metric only."""
        options, value = self.options, self.number(56.7, 6 if self.options.form == "-j" else 1)
        if options.form == "table":
            prefix = (f"{time:>16} " if time else "") + (f"{part:<10} " if part else "")
            self.lines.append(prefix + " " * 50 + f" # {value:>8} %  tma_retiring   ")
        elif options.form == "-j":
            self.lines.append(f'{{"metric-value" : "{value}", "metric-unit" : "%  tma_retiring"}}')
        else:
            fields = ([f"{time:>16}"] if time else []) + ([part] if part else [])
            fields += ["2"] if part and options.parts not in ("-A", "--per-thread") else []
            self.lines.append(
                options.form.join([*fields, "", "", "", "", "", value.split(",")[0], "%  tma_retiring"])
            )

    def _colour(self, text: str) -> str:
        return f"\x1b[32m{text}\x1b[m" if self.options.colours else text


def written(rng: random.Random, options: Options) -> Log:
    """A log of random counts."""
    writer, events = Writer(options), (CLOCK, *EVENTS)
    parts, blocks = PARTS[options.parts], max(options.intervals, 1)
    busy = [n for n in range(blocks) if n not in options.idle]

    def count(event: str) -> int:
        """Of any size; the clock in steps of 10 us, because perf prints two decimals of a msec."""
        if event == CLOCK:
            return rng.randrange(100_000) * 10
        return rng.choice((0, 7, 1234, 10**6)) + rng.randrange(10 ** rng.randrange(1, 12))

    counts = {(n, part, event): count(event) for n in busy for part in parts for event in events}
    totals = {
        (part, event): sum(counts.get((n, part, event), 0) for n in range(blocks))
        for part in parts
        for event in events
    }

    def noise(most: int = 2) -> None:
        if options.noise:
            writer.lines += rng.choices(NOISE, k=rng.randrange(most + 1))

    def rows(value, time: str, between: bool) -> None:
        for event in events:
            for part in parts:
                writer.row(event, value(part, event), part, time)
                if options.metrics:
                    writer.metric(part, time)
            if between:
                noise(1)

    def table(value) -> None:
        runs = f" ({options.runs} runs)" if options.runs > 1 else ""
        writer.lines += ["", f" Performance counter stats for 'prog --size 100'{runs}:", ""]
        rows(value, "", False)
        clock = writer.number(1.234567891, 9).replace(LANGUAGES[options.language][1] or "\0", "")
        writer.lines += [
            "",
            f"       {clock} seconds time elapsed",
            "",
            "       1.000000000 seconds user",
            "",
            "",
        ]

    def run() -> None:
        noise()
        for n in range(options.intervals):
            if options.form == "table" and n == 0:
                writer.lines.append("#           time             counts unit events")
            rows(lambda part, event, n=n: counts.get((n, part, event)), f"{n * 0.1 + 0.100123456:.9f}", True)
        if not options.intervals or options.summary:
            total = lambda part, event: totals[part, event]  # noqa: E731
            if options.form == "table":
                table(total)
            else:
                word = options.summary == "word" and options.form != "-j"
                rows(total, "summary" if word else "", not options.intervals)
        noise()

    if options.header:
        writer.lines += ["# started on Mon Nov 23 10:00:00 2026", ""]
    run()
    if options.second:
        if options.second == "append":
            writer.lines += ["# started on Mon Nov 23 10:05:00 2026", ""]
        run()
    if options.glued and (options.form != "table" or options.intervals):
        first = next(n for n, line in enumerate(writer.lines) if CLOCK in line)
        writer.lines[first] = options.glued + writer.lines[first]
    text = options.line_end.join(writer.lines) + options.line_end
    shown = {event: sum(totals[part, event] for part in parts) for event in events}
    return Log(options, text.encode(options.encoding), shown)
