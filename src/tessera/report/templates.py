"""Templates of the report's folder, and the style sheets and scripts of its pages.

Notebooks use them, too. So no figure is imported here: a changed figure would execute all notebooks again.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import jinja2

from tessera.core.files import repo_root
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
        "" if value is None or value != value else style.percent_text(value)
    )
    env.globals["verdicts"] = VERDICTS
    env.globals["scores"] = SCORES
    env.globals["verdicts_of"] = of_kind
    return env


def copy_assets(out: Path) -> None:
    """Style sheet, script and mark beside the pages."""
    shutil.copytree(repo_root() / "report" / "assets", out / "assets", dirs_exist_ok=True)
