"""Pictures of README and docs: figures of the report, drawn into ``docs/pictures``.

``python -m tessera.report.pictures`` draws the overview from the archive of the notebooks. After a default
run ``python -m tessera.report.pictures results/default`` draws the others, too. ``docs/results/pictures.md``
says what each shows and from which run it is.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root, write_text
from tessera.report.figures import registry
from tessera.report.figures.render import write_figure
from tessera.report.results import Results

#: of the archive, so that a test can draw it again
OF_THE_ARCHIVE = ("overview",)
#: of a default run; a figure that is drawn for each pair is followed by its workload and platform
OF_A_RUN = (
    ("fig2",), ("table6",), ("finding-1gb",), ("finding-slope",), ("curves", "graph500-4gb", "haswell-sim"),
    ("transfer",), ("new-designs",), ("designs",), ("validation-chase",), ("sampling",),
    ("layouts", "gups-8gb", "haswell-sim"), ("opera-table4",), ("os-chunks",),
    ("numa-placements",), ("mitosis-fig3",), ("energy",),
)  # fmt: skip

_HEAD = "# Pictures of these pages\n\nDrawn by `python -m tessera.report.pictures results/default`.\n"


def draw_pictures(results: Path, names: tuple[tuple[str, ...], ...], out: Path) -> list[str]:
    """Draw the named figures of a results folder as SVG; a line of Markdown about each.

    Raises:
        TesseraError: a figure cannot be drawn from these results.
    """
    lines, of = [], Results.of(results)
    for name, *pair in names:
        drawn = write_figure(registry.get(name), of, repo_root() / "reference-results", out, *pair)
        if not drawn.ok:
            raise TesseraError(f"the picture {drawn.stem} of {results}", drawn.reason, drawn.remedy)
        (out / f"{drawn.stem}.csv").unlink()
        lines.append(
            f"| ![{drawn.title}](../pictures/{drawn.stem}.svg) | {drawn.title}. {drawn.caption} "
            f"| {_origin(results)} |"
        )
    return lines


def _origin(results: Path) -> str:
    """The run that the numbers are from."""
    noted = results / "provenance" / "git.json"
    if not noted.is_file():
        return f"the archive `{results.relative_to(repo_root())}`"
    return f"a run of `config/{results.name}.yaml` at commit {json.loads(noted.read_text())['commit'][:12]}"


def main(results: str | None = None) -> None:
    """Draw all pictures, or those of the archive if no results are named."""
    out, archive = repo_root() / "docs" / "pictures", repo_root() / "notebooks" / "data"
    lines = draw_pictures(archive, tuple((name,) for name in OF_THE_ARCHIVE), out)
    if results:
        lines += draw_pictures(Path(results).resolve(), OF_A_RUN, out)
        write_text(
            out.parent / "results" / "pictures.md",
            "\n".join([_HEAD, "| picture | what | from |", "|---|---|---|", *lines, ""]),
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
