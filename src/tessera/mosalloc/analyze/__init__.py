"""How a program uses its memory: the JSON of ``mosalloc-run --analyze``, as text and as a plot."""

from tessera.mosalloc.analyze.model import Analysis, read_analysis

__all__ = ["Analysis", "read_analysis"]
