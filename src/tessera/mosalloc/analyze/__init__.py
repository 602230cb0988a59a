"""What a program does with its memory: the JSON of ``mosalloc-run --analyze``, in words and as a plot."""

from tessera.mosalloc.analyze.model import Analysis, read_analysis

__all__ = ["Analysis", "read_analysis"]
