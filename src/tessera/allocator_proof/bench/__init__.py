"""The library's overhead for programs with 4KB pages only: paired runs, intervals, bounds."""

from tessera.allocator_proof.bench.results import Result, format_table, write_results
from tessera.allocator_proof.bench.rows import ROWS, Row
from tessera.allocator_proof.bench.run import Bench

__all__ = ["ROWS", "Bench", "Result", "Row", "format_table", "write_results"]
