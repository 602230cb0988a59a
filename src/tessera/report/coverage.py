"""Which figure, table and printed number of five papers has a claim, a page or a reason why it has none.

``config/coverage.yaml`` has a row for each. A claim joins the rows that its ``section`` names: those of its
figures and tables, else those of its sections. The report's page "Coverage" adds the verdicts of a run.
``python -m tessera.report.coverage`` generates docs/reference/coverage.md, which has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tessera.core import reference
from tessera.core.configuration_files import Document
from tessera.core.errors import TesseraError, unknown_name
from tessera.core.files import repo_root, write_text
from tessera.lab.faults import virtuoso_claims
from tessera.report.claims.load import load_claims

COVERAGE_FILE = Document("file", "coverage", "see workflow/schemas/coverage.schema.json")
COVERAGE_PAGE = "docs/reference/coverage.md"
NAMES = {
    "micro20": "MICRO'20",
    "opera-d5.10": "OPERA D5.10",
    "mitosis-asplos20": "Mitosis",
    "park-kaist19": "Park",
    "virtuoso-asplos25": "Virtuoso",
}
#: the claims that `tessera lab run virtuoso-judge` judges: id -> rule
STUDY_RULES = {f"virtuoso-{claim.id}": claim.rule for claim in virtuoso_claims.CLAIMS}
_NUMBER = r"(\d+(?:\.\d+)?)[a-z]?"
_FIGURE_OR_TABLE = re.compile(rf"(Figure|Table)s? {_NUMBER}(?:(?: and |-){_NUMBER})?")
_SECTION = re.compile(r"abstract|[IVX]+(?:-[A-D])?|\d+(?:\.\d+)*")


@dataclass(frozen=True)
class CoveredItem:
    """A figure, a table, or the numbers in the text of a section.

    Attributes:
        item: ``Figure 2``, ``Table 6``, ``Section VI-C``.
        claims: ids, those that name the item first.
        figures: those of its claims, then others.
        printed: tables of ``reference-results/`` with its numbers.
        reason: key of :attr:`CoveredPapers.reasons`, or empty; beside claims it is about the rest.
        see: the item of the same paper that has its numbers, or empty.
    """

    item: str
    says: str
    claims: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    reason: str = ""
    words: str = ""
    see: str = ""
    printed: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return self.item.split()[0]


@dataclass(frozen=True)
class Paper:
    """The rows of one paper in its order; ``counted`` says how they were found."""

    name: str
    counted: str
    rows: tuple[CoveredItem, ...]

    def count(self, kind: str) -> int:
        """How many rows are of a kind: Figure, Table or Section."""
        return sum(row.kind == kind for row in self.rows)


@dataclass(frozen=True)
class CoveredPapers:
    """All papers; reason -> what it means; ids of claims that nothing in this repository can judge."""

    papers: tuple[Paper, ...]
    reasons: dict[str, str]
    unavailable: frozenset[str]

    def kinds_of_rows(self, paper: Paper) -> tuple[int, int, int]:
        """Rows with a claim that can be judged here, with other claims only, and without a claim."""
        judged = sum(not self.unavailable.issuperset(row.claims) for row in paper.rows)
        without = sum(not row.claims for row in paper.rows)
        return judged, len(paper.rows) - judged - without, without


def load_coverage(path: Path | None = None) -> CoveredPapers:
    """The rows of ``config/coverage.yaml``, or of another file, joined with the claims.

    Raises:
        TesseraError: a broken file, an item that lacks or is there twice, a claim without a row, an unknown
            claim, reason or item to see, or a row with neither a claim nor a reason.
    """
    path = path or repo_root() / "config" / "coverage.yaml"
    document = COVERAGE_FILE.read(path)
    evaluators = {claim.id: claim.evaluator for claim in load_claims()} | STUDY_RULES
    papers = [_paper(one, document["reasons"], set(evaluators), path) for one in document["papers"]]
    nowhere = (name for name, how in evaluators.items() if how in ("unavailable", virtuoso_claims.ELSEWHERE))
    return CoveredPapers(tuple(papers), document["reasons"], frozenset(nowhere))


def _paper(spec: dict, reasons: dict[str, str], known: set[str], path: Path) -> Paper:
    items = [one["item"] for one in spec["items"]]
    asked = [f"{kind} {n}" for kind in ("Figure", "Table") for n in _numbers(spec[f"{kind.lower()}s"])]
    wrong = {item for item in items if items.count(item) > 1}
    wrong |= set(asked) ^ {item for item in items if not item.startswith("Section")}
    if wrong or len(items) - len(asked) != spec["sections"]:
        raise TesseraError(
            f"{spec['paper']} of {path}",
            f"an item twice, too much or missing ({', '.join(sorted(wrong)) or 'sections'})",
            "give each figure, table and section one row, and correct the counts",
        )
    cited, printed = _cited(spec["paper"]), _printed(spec["paper"])
    for item, (name, *_) in (cited | printed).items():
        if item not in items:
            raise TesseraError(f"{spec['paper']} of {path}", f"{name} is about {item}", "add this row")
    rows = [_row(one, cited.get(one["item"], []), printed.get(one["item"], [])) for one in spec["items"]]
    for row in rows:
        owner = f"{row.item} of {spec['paper']} in {path}"
        for kind, names, valid in (
            ("claim", row.claims, known), ("reason", [row.reason] if row.reason else [], reasons),
            ("item", [row.see] if row.see else [], items),
        ):  # fmt: skip
            for name in names:
                if name not in valid:
                    raise unknown_name(f"{kind} of {owner}", name, sorted(valid))
        if not (row.claims or row.reason) or len(set(row.claims)) < len(row.claims):
            raise TesseraError(owner, "no claim and no reason, or a claim twice", "correct the row")
    return Paper(spec["paper"], spec["counted"].strip(), tuple(rows))


def _row(spec: dict, cited: list[str], printed: list[str]) -> CoveredItem:
    lists = {key: tuple(value) for key, value in spec.items() if isinstance(value, list)}
    claims = (*cited, *spec.get("claims", ()))
    shown = [one.figure for one in load_claims() if one.id in claims and one.figure]
    figures = tuple(dict.fromkeys([*shown, *spec.get("figures", ())]))
    return CoveredItem(**spec | lists | {"claims": claims, "figures": figures, "printed": tuple(printed)})


def _numbers(ranges: Iterable[str]) -> Iterator[str]:
    """``2.1-2.14`` as 2.1, 2.2 and so on."""
    for one in ranges:
        first, last = one.split("-")
        chapter, _, begin = first.rpartition(".")
        for n in range(int(begin), int(last.rpartition(".")[2]) + 1):
            yield f"{chapter}.{n}" if chapter else str(n)


def _cited(paper: str) -> dict[str, list[str]]:
    """Item -> claims of a paper that name it."""
    found: dict[str, list[str]] = {}
    own = [(claim.id, items_of(claim.section)) for claim in load_claims() if claim.paper == paper]
    if paper == "virtuoso-asplos25":
        own += zip(STUDY_RULES, ([f"Figure {claim.figure}"] for claim in virtuoso_claims.CLAIMS), strict=True)
    for name, items in own:
        for item in items:
            found.setdefault(item, []).append(name)
    return found


def _printed(paper: str) -> dict[str, list[str]]:
    """Item -> tables of ``reference-results/`` with its numbers."""
    found: dict[str, list[str]] = {}
    for name in reference.published_names():
        table = reference.load_published(name)
        places = table.loc[table["paper"] == paper, ["location", "section"]].drop_duplicates()
        for location, section in places.itertuples(index=False):
            shown = [item for item in items_of(location) if not item.startswith("Section")]
            for item in shown or [f"Section {section}"]:
                if name not in found.setdefault(item, []):
                    found[item].append(name)
    return found


def items_of(section: str) -> list[str]:
    """The items that a claim's ``section`` names: ``VI-D, Figure 2a; abstract`` is about Figure 2."""
    shown = [f"{kind} {n}" for kind, *numbers in _FIGURE_OR_TABLE.findall(section) for n in numbers if n]
    parts = (part.strip() for part in re.split("[;,]", section))
    return list(dict.fromkeys(shown or [f"Section {part}" for part in parts if _SECTION.fullmatch(part)]))


def beside_reason(row: CoveredItem) -> str:
    """What a row says beside its reason: details, or the row that has its numbers."""
    return row.words or (f"see {row.see}" if row.see else "")


# The page docs/reference/coverage.md.

_TITLE = """# Coverage of the papers

Each figure, each table and each section with numbers of five papers has a row: the claims about it, what
shows it, or the reason why nothing is judged. Beside claims, the reason is about the rest. A claim with an
asterisk needs something that is not here, so no run of this repository judges it. Names of pages and figures
are those of the report, whose page "Coverage" adds the verdicts of its run; [claims.md](../explain/claims.md)
says what they mean. *Numbers* are tables of `reference-results/` with what the item prints.

Generated by `python -m tessera.report.coverage` from `config/coverage.yaml` and the claims; change those.

Reasons:
"""


def coverage_page(coverage: CoveredPapers) -> str:
    """The text of the page."""
    lines = [_TITLE, *(f"- *{name}*: {words}" for name, words in coverage.reasons.items())]
    lines.append("\n| paper | figures | tables | sections | judged here | other claims only | no claim |")
    lines.append("|---|---|---|---|---|---|---|")
    for paper in coverage.papers:
        counts = [paper.count(kind) for kind in ("Figure", "Table", "Section")]
        cells = [NAMES[paper.name], *counts, *coverage.kinds_of_rows(paper)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    for paper in coverage.papers:
        lines += [f"\n## {NAMES[paper.name]}\n", f"{paper.counted}\n"]
        lines.append(
            "| item | what it says | claims | shown by | numbers | reason |\n|---|---|---|---|---|---|"
        )
        lines += [f"| {' | '.join(_cells(row, coverage))} |" for row in paper.rows]
    return "\n".join(lines) + "\n"


def _cells(row: CoveredItem, coverage: CoveredPapers) -> list[str]:
    marks = (f"`{name}`{'*' if name in coverage.unavailable else ''}" for name in row.claims)
    shown = (f"`{one}`" for one in (*row.figures, *row.pages, *(f"tessera {one}" for one in row.commands)))
    reason = ": ".join(filter(None, (f"*{row.reason}*" if row.reason else "", beside_reason(row))))
    printed = (f"`{name}`" for name in row.printed)
    return [row.item, row.says, ", ".join(marks), ", ".join(shown), ", ".join(printed), reason]


if __name__ == "__main__":
    write_text(repo_root() / COVERAGE_PAGE, coverage_page(load_coverage()))
