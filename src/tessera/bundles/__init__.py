"""Bundles: what was measured on a real machine, in a form that anyone can check (docs/bundles.md).

From the bottom: :mod:`wrong` (errors), :mod:`values`, :mod:`names`, :mod:`model` (types), :mod:`shapes` and
:mod:`documents` (strict CSV and JSON files), :mod:`contents` (folder or zip), :mod:`packed` and :mod:`sums`,
:mod:`links` (references between files), :mod:`reader`, :mod:`private` (texts without names), :mod:`writer`
(while measuring), :mod:`numbers` and :mod:`rows` (counts to cells, shared with imported logs), :mod:`cells`,
:mod:`sealing`, :mod:`protocol`, :mod:`checks` and :mod:`verify`, :mod:`show`, :mod:`merge`, :mod:`store` and
:mod:`deposits` (downloads of what the index lists).
"""

from tessera.bundles.reader import read
from tessera.bundles.sealing import seal

__all__ = ["read", "seal"]
