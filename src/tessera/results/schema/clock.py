"""Micro-benchmarks and programs on this machine's clock, beside the simulated core."""

from __future__ import annotations

from tessera.results.schema.table import Table, columns

_CLOCK = "tessera validate clock"
_MEASURED = """
    pages        text    -       4KB or 2MB: pages behind the data
    source       text    -       native, or a simulated platform
    cycles       number  cycles  one round of a mark, or the region of interest of a program
    low_cycles   number  cycles  lower end of the 95% interval; simulated: the same
    high_cycles  number  cycles  upper end of that interval
    runs         count   1       measurements behind it
    provenance   text    -       measured or simulated
    status       text    -       ok, failed or skipped
    message      text    -       why there is no number
    """
CLOCK_MEASURED = Table(
    "clock_measured", lambda t: t.validation("clock_measured"), "tessera validate clock-measure", "measured",
    "micro-benchmarks and programs on this machine's clock",
    columns("""
    kind         text    -       mark or program
    name         text    -       of the micro-benchmark, or of the program and its size
    pages        text    -       4KB or 2MB: pages behind the data
    cycles       number  cycles  one round of a mark, or the region of interest of a program
    low_cycles   number  cycles  lower end of the 95% interval; empty: too few measurements
    high_cycles  number  cycles  upper end of that interval
    runs         count   1       measurements behind it
    status       text    -       ok, failed or skipped
    message      text    -       why there is no number
    """),
)  # fmt: skip
CLOCK_MARKS = Table(
    "clock_marks", lambda t: t.validation("clock_marks"), _CLOCK, "column",
    "micro-benchmarks on this machine and simulated",
    columns("""
    mark         text    -       name of the micro-benchmark
    family       text    -       what kind it is
    half         text    -       calibrate or judge
""" + _MEASURED.strip("\n")),
)  # fmt: skip
CLOCK_PROGRAMS = Table(
    "clock_programs", lambda t: t.validation("clock_programs"), _CLOCK, "column",
    "programs on this machine and simulated, in sizes of their own",
    columns("""
    program      text    -       name of the program and its size
""" + _MEASURED.strip("\n")),
)  # fmt: skip
CLOCK_KEYS = Table(
    "clock_keys", lambda t: t.validation("clock_keys"), _CLOCK, "measured",
    "keys of the core that the calibrating marks set",
    columns("""
    key       text  -  platform key
    before    text  -  value in the platform before
    after     text  -  value that was set
    marks     text  -  marks that it comes from
    measured  text  -  their measured times
    """),
)  # fmt: skip
TABLES = (CLOCK_MEASURED, CLOCK_MARKS, CLOCK_PROGRAMS, CLOCK_KEYS)
