"""What the library costs a program whose memory stays on 4KB pages: paired runs, intervals, bounds."""

from tessera.mosalloc.bench.results import Result, format_table, write_results
from tessera.mosalloc.bench.rows import ROWS, Row
from tessera.mosalloc.bench.run import Bench

__all__ = ["ROWS", "Bench", "Result", "Row", "format_table", "write_results"]
