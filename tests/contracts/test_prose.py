"""docs/style.md, as far as a program can check it: short sentences, no riddles, tests without wording."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STYLE = ROOT / "docs" / "style.md"
LONGEST_SENTENCE = 30  #: words between two of .!?:; (docs/style.md, rule 1)
PAGES = sorted(p for p in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")] if p.name != "results.md")
TEXTS = {".md", ".py", ".smk", ".sh", ".html", ".yaml", ".yml", ".cpp", ".h", ".hpp", ".c", ".ipynb", ""}
#: three or more plain words in a row are prose; what starts as one of these is a command
PROSE = re.compile(r"(?<![\w./-])[a-z']+(?: [a-z']+){2,}(?![\w/-])")
COMMANDS = ("tessera ", "./run ", "sudo ", "snakemake ", "sysctl ", "apt-get ", "docker ", "git ")
#: what a program printed or an error says, by the names that tests give it
SAID = re.compile(r"\b(stderr|stdout|err|out|output|said|printed|message|found|asked|remedy|text)\b")


def sentences(markdown):
    """The sentences of a page: no code, no tables, no headings; code spans count as one word."""
    text = re.sub(r"```.*?```", "\n\n", markdown, flags=re.S)
    paragraphs, open_one = [], []
    for line in [*map(str.strip, text.splitlines()), ""]:
        item = re.match(r"(?:[-*]|\d+\.) +", line)
        if not line or item or line.startswith(("|", "#", ">", "<")):
            paragraphs.append(" ".join(open_one))
            open_one = [line[item.end() :]] if item else []
        else:
            open_one.append(line)
    for paragraph in paragraphs:
        plain = re.sub(r"`[^`]*`", "code", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph))
        yield from (s for s in re.split(r"(?<=[.!?:;])\s+", plain) if s)


def instead_of():
    """The left column of the table *Instead of* in docs/style.md."""
    table = STYLE.read_text().split("## Instead of")[1].split("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")]
    return [row for row in rows if row != "instead of"]


def test_the_reader_of_sentences_sees_what_a_person_sees():
    page = (
        "# No\n\nOne `a b c` two\nthree. Four: five\n\n| no |\n\n```sh\nno\n```\n- six [seven](x)\n- eight\n"
    )
    assert list(sentences(page)) == ["One code two three.", "Four:", "five", "six seven", "eight"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_sentences_are_short(page):
    long = [s for s in sentences(page.read_text()) if len(s.split()) > LONGEST_SENTENCE]
    assert not long, f"more than {LONGEST_SENTENCE} words (docs/style.md, rule 1): {long}"


def test_listed_riddles_are_nowhere():
    listed = instead_of()
    assert len(listed) >= 7
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\n")
    files = [ROOT / name for name in names if name and Path(name).suffix in TEXTS]
    found = []
    for path in files:
        if path in (STYLE, Path(__file__)) or not path.is_file():
            continue
        text = " ".join(path.read_text(errors="replace").split())
        found += [f"{path.relative_to(ROOT)}: {words}" for words in listed if words in text]
    assert not found


def prose(literal):
    """The first run of three plain words in a string that is no command; None if there is none."""
    for match in PROSE.finditer(literal.replace("\\", "")):
        if not (match.group() + " ").startswith(COMMANDS):
            return match.group()
    return None


def wordings(tree):
    """(line, words) of each place in a test that pins prose of a message."""
    for node in ast.walk(tree):
        literals = []
        if isinstance(node, ast.Call):
            literals = [k.value for k in node.keywords if k.arg == "match"]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            if SAID.search(ast.unparse(node.comparators[0])):
                literals = [node.left]
        for literal in literals:
            if isinstance(literal, ast.Constant) and isinstance(literal.value, str) and prose(literal.value):
                yield node.lineno, prose(literal.value)


def test_the_reader_of_tests_finds_prose_and_only_prose():
    source = """
with raises(E, match="it must be there"): pass
with raises(E, match="mosaic.csv line 3"): pass
assert "nothing was left over" in done.stderr
assert "tessera layouts check x" in done.stderr
assert "nothing was left over" in names
"""
    assert sorted(line for line, _ in wordings(ast.parse(source))) == [2, 4]


def test_tests_check_values_and_not_sentences():
    found = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for line, words in wordings(ast.parse(path.read_text())):
            found.append(f"{path.relative_to(ROOT)}:{line}: {words}")
    assert not found, "check a value, a status or a code (docs/style.md, Messages):\n" + "\n".join(found)
