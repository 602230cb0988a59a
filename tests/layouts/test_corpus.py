"""The examples of ``artifacts/layout-format``, which both C++ components run too; one table of rules."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tessera.core.layouts.layout import read_layout, write_layout
from tessera.core.layouts.layout_format import MAX_WINDOWS, RULES, LayoutRefused

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "artifacts" / "layout-format"
HEAD = "type,pageSize,startOffset,endOffset\n"
with (CORPUS / "refused.csv").open(newline="") as lines:
    REFUSED = {row["file"]: (row["code"], int(row["line"])) for row in csv.DictReader(lines)}


@pytest.mark.parametrize("path", sorted((CORPUS / "accepted").glob("*.csv")), ids=lambda path: path.stem)
def test_accepted_files_mean_what_they_should(path, tmp_path):
    expected = path.with_suffix(".expected").read_text()
    write_layout(read_layout(path), tmp_path / "canonical.csv")
    assert (tmp_path / "canonical.csv").read_text() == expected
    write_layout(read_layout(tmp_path / "canonical.csv"), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == expected


@pytest.mark.parametrize("name", REFUSED)
def test_refused_files_name_rule_and_line(name):
    code, line = REFUSED[name]
    with pytest.raises(LayoutRefused) as refusal:
        read_layout(CORPUS / "refused" / name)
    assert (refusal.value.rule, refusal.value.line) == (code, line)
    assert f"{name} line {line}, column " in refusal.value.asked
    assert refusal.value.found.endswith(f" [{code}]") and refusal.value.remedy


def test_every_example_is_listed_and_every_rule_has_one():
    assert {path.name for path in (CORPUS / "refused").iterdir()} == set(REFUSED)
    assert {path.stem for path in (CORPUS / "accepted").glob("*.expected")} == {
        path.stem for path in (CORPUS / "accepted").glob("*.csv")
    }
    # 16385 windows make a file of 400KB: every reader's test writes its own
    # (docs/reference/layout-format.md).
    assert {code for code, _ in REFUSED.values()} == set(RULES) - {"layout/window-limit"}


def many_windows(count: int) -> str:
    rows = (f"mmap,2MB,{4 * i}MB,{4 * i + 2}MB\n" for i in range(count))
    return HEAD + "mmap,-1,0,1TB\n" + "".join(rows)


def test_the_limit_of_windows_is_the_last(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text(many_windows(MAX_WINDOWS))
    assert len(read_layout(path).windows) == MAX_WINDOWS
    path.write_text(many_windows(MAX_WINDOWS + 1))
    with pytest.raises(LayoutRefused) as refusal:
        read_layout(path)
    assert (refusal.value.rule, refusal.value.line) == ("layout/window-limit", MAX_WINDOWS + 3)


def test_both_tables_of_rules_and_the_document_agree():
    header = (CORPUS / "include" / "tessera" / "layout_file" / "rules.h").read_text()
    rows = re.findall(r'\{"(layout/[a-z0-9-]+)", "([^"]*)", "([^"]*)"\}', header)
    assert [(code, rule.found, rule.remedy) for code, rule in RULES.items()] == rows
    assert f"kMaxWindows = {MAX_WINDOWS};" in header
    document = (ROOT / "docs" / "reference" / "codes.md").read_text()
    assert re.findall(r"^\| `(layout/[a-z0-9-]+)` \|", document, re.M) == list(RULES)
    assert f"{MAX_WINDOWS} windows" in (ROOT / "docs" / "reference" / "layout-format.md").read_text()


def test_values_are_shown_cut_and_without_control_characters(tmp_path):
    path = tmp_path / "l.csv"
    path.write_bytes(HEAD.encode() + b"mmap,-1,0," + b"9" * 5000 + b"\n")
    with pytest.raises(LayoutRefused, match=r"column endOffset: '9{40}\.\.\.': .*\[layout/too-large\]"):
        read_layout(path)
    path.write_bytes(HEAD.encode() + b"mmap,\x1b[31m,0,0\n")
    with pytest.raises(LayoutRefused, match=r"line 2, column row: '\\x1b': .*\[layout/byte\]"):
        read_layout(path)
