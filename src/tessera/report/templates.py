"""Templates of the report's folder, and the style sheets and scripts of its pages.

Notebooks use them, too. So no figure is imported here: a changed figure would execute all notebooks again.
"""

from __future__ import annotations

import base64
import hashlib
import numbers
from pathlib import Path

import jinja2

from tessera.core.files import copy_file, repo_root
from tessera.report.figures import style
from tessera.report.verdicts import SCORES, VERDICTS, of_kind


def page_templates() -> jinja2.Environment:
    """Templates of ``report/templates`` with the filters that pages use."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(repo_root() / "report" / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters["percent"] = lambda value: (
        "" if value is None or value != value else times(value) or style.percent_text(value)
    )
    env.filters["change"] = signed_change
    env.filters["hash_source"] = hash_source
    env.globals["here"] = str  # a report replaces it: its commands name its own run
    env.globals["verdicts"] = VERDICTS
    env.globals["scores"] = SCORES
    env.globals["verdicts_of"] = of_kind
    return env


def hash_source(text: str) -> str:
    """The source of a content-security policy that allows one inline style: its bytes between the tags."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def signed_change(value) -> str:
    """``-0.5`` as ``-50.0%``, ``30`` as ``31 times``; empty if the number is not known."""
    if not isinstance(value, numbers.Real) or value != value:
        return ""
    return times(value, more=1) or f"{100 * value:+.1f}%"


def times(value: float, more: float = 0) -> str:
    """A fraction of 1000% or more as a factor (of a change: with ``more`` = 1); empty for smaller ones."""
    return f"{value + more:,.0f} times" if value >= 10 else ""


def copy_assets(out: Path) -> None:
    """Style sheet, script and mark beside the pages."""
    assets = repo_root() / "report" / "assets"
    for path in assets.rglob("*"):
        if path.is_file():
            copy_file(path, out / "assets" / path.relative_to(assets))
