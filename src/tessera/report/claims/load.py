"""Read ``config/claims.yaml`` and ``config/proof-reading.yaml``: schema, references, evaluators, names.

A file that loads is complete: every published number exists, every evaluator is registered and
takes the parameters it is given, every id is used once.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tessera.core import reference
from tessera.core.configuration_files import Document
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.report.claims import registry
from tessera.report.claims.claim import OURS, Beside, Claim, Scope, Tolerance, Value

#: YAML anchors name tolerances that many claims share.
CLAIMS_FILE = Document("claims file", "claims", "see docs/howto/add-a-claim.md", code="claims", anchors=True)
#: Beside a claims file: what papers print, against itself and algebra (claims of kind ``arithmetic``).
PROOF_READING = "proof-reading.yaml"


def claims_path() -> Path:
    """``config/claims.yaml`` of this checkout."""
    return repo_root() / "config" / "claims.yaml"


def load_claims(
    claims_file: Path | str | None = None, reference_dir: Path | str | None = None
) -> list[Claim]:
    """The claims of a file and of :data:`PROOF_READING` beside it, in their order; not to be changed.

    They are read again when a file that decides them changes.

    Raises:
        TesseraError: a broken file; the message names the entry and the rule.
    """
    path = Path(claims_file) if claims_file else claims_path()
    beside = path.with_name(PROOF_READING)
    files = (path, beside) if beside != path and beside.exists() else (path,)
    published = Path(reference_dir) if reference_dir else reference.default_dir()
    read = (*files, *sorted(published.glob("*.csv")))
    return list(_loaded(files, reference_dir, tuple(map(_stamp, read))))


def _stamp(path: Path) -> tuple[str, int, int]:
    """What differs once a file was changed: time of change in ns and size in bytes, -1 if it is absent."""
    found = path.stat() if path.exists() else None
    return (str(path), found.st_mtime_ns, found.st_size) if found else (str(path), -1, -1)


@lru_cache(maxsize=4)
def _loaded(files: tuple[Path, ...], reference_dir: Path | str | None, stamps: tuple) -> list[Claim]:
    """The claims of one state of the files; a report needs them four times."""
    found: list[tuple[Claim, Path]] = []
    for path in files:
        entries = CLAIMS_FILE.read(path)["claims"]
        found += [(_claim(entry, reference_dir), path) for entry in entries]
    seen: set[str] = set()
    for claim, path in found:
        if claim.id in seen:
            raise TesseraError(
                f"claim '{claim.id}' of {path}", "two claims have this id", "rename one", code="claim-twice"
            )
        seen.add(claim.id)
        for parameters in (claim.parameters, *claim.readings.values()):
            registry.find_evaluator(claim.evaluator, parameters)
        for one in claim.beside:
            registry.find_evaluator(one.evaluator, one.parameters)
        _check_readings(claim, path)
        _check_implementation(claim, path)
    return [claim for claim, _ in found]


def _check_readings(claim: Claim, path: Path) -> None:
    """Only a finding has several readings: rules and printed numbers are what their words say."""
    if claim.readings and claim.kind != "finding":
        raise TesseraError(
            f"claim '{claim.id}' of {path}, evaluator.readings",
            f"the claim's kind is {claim.kind}",
            "leave the key out: only a finding has several readings",
            code="claims-readings",
        )
    if OURS in claim.readings:
        raise TesseraError(
            f"claim '{claim.id}' of {path}, evaluator.readings",
            f"a reading is called '{OURS}', which is the name of the evaluator's own parameters",
            "choose another name",
            code="claims-readings",
        )


def _check_implementation(claim: Claim, path: Path) -> None:
    """A finding about a kernel or an allocator is obtained with ours, so the claim says whose it is."""
    if claim.kind == "finding" and not claim.implementation and registry.uses_our_system(claim.evaluator):
        raise TesseraError(
            f"claim '{claim.id}' of {path}, implementation",
            f"no text, but evaluator '{claim.evaluator}' measures a kernel or an allocator of Tessera",
            "add the key, for example: implementation: Tessera's allocator",
            code="claims-implementation",
        )


def _claim(entry: dict, reference_dir: Path | str | None) -> Claim:
    published, source = _published(entry["published"], reference_dir)
    scope, asked = entry["scope"], entry["evaluator"]
    readings = {name: asked["parameters"] | own for name, own in asked.get("readings", {}).items()}
    others = tuple(
        Beside(one["says"], one.get("name", asked["name"]), one["parameters"])
        for one in asked.get("beside", ())
    )
    return Claim(
        id=entry["id"],
        paper=entry["paper"],
        section=str(entry["section"]),
        statement=entry["statement"],
        kind=entry["kind"],
        published=published,
        published_source=source,
        unit=entry["unit"],
        tolerance=Tolerance(**entry["tolerance"]),
        evaluator=asked["name"],
        parameters=asked["parameters"],
        readings=readings,
        beside=others,
        scope=Scope(tuple(scope["workloads"]), tuple(scope["platforms"]), scope["about"]),
        hardware_class=entry["hardware_class"],
        required=entry["required"],
        figure=entry["figure"],
        explanation=entry.get("explanation", "").strip(),
        cause=entry.get("cause", ""),
        implementation=entry.get("implementation", ""),
    )


def _published(spec: dict, reference_dir: Path | str | None) -> tuple[Value, str]:
    """The number or named numbers of ``published``, and where they come from."""
    if "value" in spec:
        return spec["value"], spec["reason"]
    table, where = spec["table"], spec["where"]
    if "key" not in spec:
        return reference.lookup(table, where, reference_dir), f"reference-results/{table}.csv"
    rows = reference.select_published(table, where, reference_dir)
    if spec["key"] not in rows.columns or rows[spec["key"]].duplicated().any():
        raise TesseraError(
            f"published value from table '{table}', key '{spec['key']}'",
            "the table has no such column, or several rows have the same value in it",
            "choose a column with a different value in each row, or add conditions",
        )
    values = dict(zip(rows[spec["key"]], rows["value"].astype(float), strict=True))
    return values, f"reference-results/{table}.csv"
