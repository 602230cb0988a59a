"""Make our own upload: one zip with code, results, manifest and checksums; same input, same bytes.

``make`` writes it, ``verify`` reads it again. Nothing in it names the machine that it was made on.
"""

from tessera.package.make import Package, make
from tessera.package.verify import verify

__all__ = ["Package", "make", "verify"]
