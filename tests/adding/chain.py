"""Run in the changed checkout by test_adding.py: from cells to the pages of the report, by the commands.

Arguments: the results folder, and the configuration of the report.
"""

import json
import sys
from pathlib import Path

from tessera.cli.main import cli
from tessera.report import site

results = Path(sys.argv[1])
cells = sorted(results.glob("cells/*/*.csv"))
pairs = [results / "models" / path.parent.name / path.stem for path in cells]


def run(*words: object) -> None:
    cli.main([str(word) for word in words], standalone_mode=False)


run("dev", "step", "fit", "seed=1", "--out", results / "models", *(f"cells={path}" for path in cells))
run("models", "collect", "--out", results / "models", *pairs)
figures = ["fig2", "fig5", "table6", "curves", "misses-left"]
facts = site.render_report(results, only=figures, with_pdf=False, config=Path(sys.argv[2]))
drawn = {figure.stem: figure.reason for figure in facts.figures}
json.dump({"figures": drawn, "claims": facts.claims_reason}, sys.stdout)
