"""How studies are run: words become values, failures rows, tables files; and all studies of the catalogue."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.lab.study import list_command, run_named, show
from tessera.cli.old_names import COMMANDS, new_name
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.platforms import Platform
from tessera.core.results.study_tables import INTERVALS, SAMPLING
from tessera.core.results.table_io import frame_of, read_file
from tessera.lab import catalogue
from tessera.lab.catalogue import GROUPS, STUDIES, Entry
from tessera.lab.study import (
    Bounds,
    Count,
    Names,
    NewFile,
    Paths,
    Recording,
    Run,
    Texts,
    load,
    read_words,
    run_study,
    study,
)
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import FULL, Plan, parse_sampling

TRACE = repo_root() / "tests" / "traces" / "examples" / "phases.tst"


def no_x(names: tuple[str, ...]) -> None:
    if "x" in names:
        raise ValueError("there is no x")


@study()
def every(
    run: Run,
    text: str,
    file: Path,
    platform: Platform,
    cache: CellCache,
    whole: int = 1,
    real: Annotated[float, Bounds(0, 1)] = 0.5,
    answer: bool = False,
    trace: Recording | None = None,
    plan: Plan = FULL,
    new: NewFile | None = None,
    names: Annotated[Names, no_x] = ("a", "b"),
    texts: Texts = (),
    paths: Paths = (),
    count: Count | None = None,
    kind: Literal["one", "two"] = "one",
) -> None:
    """A study with a key of each kind.

    Args:
        text: goes over
            two lines.
        whole: a number.

    Raises:
        TesseraError: never.
    """


NEEDED = {"text": "t", "file": str(TRACE), "platform": "haswell-sim"}


def read(*words: str, out: Path = Path("out"), **given: str) -> dict:
    mine = {key: value for key, value in NEEDED.items() if not any(w.startswith(f"{key}=") for w in words)}
    return read_words("study every", every, [*words, *(f"{k}={v}" for k, v in mine.items())], out)


# -- one word of each kind


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("text=a=b, c", "a=b, c"),
        ("text=", ""),
        ("file=/", Path("/")),
        ("whole=-3", -3),
        ("real=0.25", 0.25),
        ("real=1", 1.0),
        ("answer=yes", True),
        ("answer=False", False),
        ("plan=full", FULL),
        ("plan=units=4,warmup_accesses=1,timed_instructions=2",
         parse_sampling("units=4,warmup_accesses=1,timed_instructions=2")),
        ("names=c, d,,e", ("c", "d", "e")),
        ("names=", ()),
        ("texts=a,b", ("a,b",)),
        ("paths=/", (Path("/"),)),
        ("count=1", 1),
        ("kind=two", "two"),
    ],
)  # fmt: skip
def test_a_word_becomes_a_value(word, value):
    key = word.partition("=")[0]
    assert read(word)[key] == value


def test_names_of_things_become_things(tmp_path):
    found = read(f"trace={TRACE}", f"new={tmp_path / 'new.txt'}", f"cache={tmp_path}")
    assert found["platform"].name == "haswell-sim"
    assert (found["trace"].trace, found["trace"].workload) == (TRACE, "phases")
    assert found["new"] == tmp_path / "new.txt" and found["cache"].folder == tmp_path
    changed = read("platform=haswell-sim core.mshrs=5")["platform"]
    assert changed.values["core.mshrs"].value == 5 and changed.name == "haswell-sim core.mshrs=5"


def test_a_key_that_may_be_repeated_keeps_the_order_and_commas():
    assert read("texts=b,1", "texts=a")["texts"] == ("b,1", "a")
    assert read("paths=/", f"paths={TRACE}")["paths"] == (Path("/"), TRACE)


def test_only_words_have_values_and_finished_simulations_are_beside_the_tables(tmp_path):
    assert set(read(out=tmp_path)) == {*NEEDED, "cache"}
    assert read(out=tmp_path)["cache"].folder == tmp_path / ".cache"
    assert read(out=tmp_path / "x.csv")["cache"].folder == tmp_path / ".cache"
    assert read(out=tmp_path / "v1.2")["cache"].folder == tmp_path / "v1.2" / ".cache"  # no suffix of a file
    (tmp_path / "folder.csv").mkdir()
    assert read(out=tmp_path / "folder.csv")["cache"].folder == tmp_path / "folder.csv" / ".cache"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("whole", "'whole': this is not KEY=VALUE"),
        ("whol=3", "there is no key 'whol'; do you mean whole=?"),
        ("zzz=3", "there is no key 'zzz'; the keys are: text, file"),
        ("whole=three", "whole=three: this is no whole number; write whole=N"),
        ("whole=1.5", "this is no whole number"),
        ("real=much", "this is no number; write real=NUMBER"),
        ("real=1.5", "it must be at least 0 and at most 1"),
        ("count=0", "it must be at least 1"),
        ("answer=maybe", "it must be yes or no; write answer=yes|no"),
        ("kind=three", "use one of: one, two; write kind=one|two"),
        ("file=/no/such", "no such file or folder; write file=PATH"),
        ("paths=/no/such", "no such file or folder"),
        ("trace=/no/such.tst", "no such file or folder; write trace=TRACE"),
        ("platform=haswel-sim", "haswel-sim"),
        ("platform=haswell-sim core.mshr=5", "core.mshr"),
        ("plan=units", "units"),
        ("names=a,x", "names=a,x: there is no x"),
        ("new=/", "/"),
    ],
)
def test_a_word_that_is_wrong_is_named_with_the_right_ones(word, said):
    with pytest.raises(TesseraError) as refused:
        read(word)
    assert said in refused.value.sentence and refused.value.exit_code == 2


def test_a_key_twice_and_missing_keys_are_refused():
    with pytest.raises(TesseraError, match="whole=: given 2 times"):
        read("whole=1", "whole=1")
    with pytest.raises(TesseraError, match=r"it needs file=PATH, platform=PLATFORM\n.*add them; keys: text"):
        read_words("study every", every, ["text=t"], Path("out"))
    with pytest.raises(TesseraError, match=r"it needs text=TEXT\n.*add it"):
        read_words("every", every, [f"{key}={NEEDED[key]}" for key in ("file", "platform")], Path("out"))


def test_a_trace_that_is_none_is_refused(tmp_path):
    for name, text in (("a.tst", "no trace"), ("a.json", "{"), ("b.json", "{}")):
        (tmp_path / name).write_text(text)
        with pytest.raises(TesseraError, match=name):
            read(f"trace={tmp_path / name}")


def test_a_recording_that_failed_has_a_workload_and_no_trace(tmp_path):
    info = {"workload": "made", "status": "failed", "message": "QEMU-7"}
    (tmp_path / "info.json").write_text(json.dumps(info))
    found = read(f"trace={tmp_path / 'info.json'}")["trace"]
    assert found.workload == "made" and found.note == ""
    with pytest.raises(TesseraError, match="QEMU-7"):
        _ = found.trace
    (tmp_path / "info.json").write_text(json.dumps(info | {"status": "ok"}))
    assert Recording(tmp_path / "info.json").trace == tmp_path / "trace.tst"


def test_help_names_keys_kinds_and_texts():
    found = every.parameters
    assert list(found)[:4] == ["text", "file", "platform", "cache"] and "run" not in found
    assert found["text"].about == "goes over two lines." and found["whole"].about == "a number."
    assert found["names"].stands_for == "TEXT,..." and found["paths"].stands_for == "PATH (may be repeated)"
    required = [name for name, one in found.items() if one.required]
    assert required == ["text", "file", "platform"]
    assert every.text == "A study with a key of each kind."


# -- rows, failures and files


def shown(rows: pd.DataFrame, other: pd.DataFrame) -> None:
    print(f"{len(rows)} rows and {len(other)} intervals are here")


@study(SAMPLING, INTERVALS, failed={"method": "blind"}, show=shown)
def two_tables(run: Run, trace: Recording, platform: Platform, wrong: bool = False):
    """Write two tables.

    Args:
        trace: one.
        platform: one.
        wrong: say so.
    """
    run.say("half done")
    pair = {"workload": trace.workload, "platform": platform.name}
    run.wrong += ["a check"] * wrong
    rows = frame_of(SAMPLING, [pair | {"status": "ok"}, pair | {"status": "skipped", "message": "no data"}])
    return rows, frame_of(INTERVALS, [pair | {"interval": 0}] if trace.trace else [])


@study()
def no_tables(run: Run, fails: bool = False):
    """Write a file."""
    if fails:
        raise TesseraError("this", "two\nlines", "mend it", exit_code=1)
    run.file("made.txt").write_text("x")


@study(SAMPLING)
def no_failures(run: Run):
    """Fail, without rows for it."""
    raise TesseraError("this", "impossible", "mend it")


@study(SAMPLING, INTERVALS)
def one_of_two(run: Run):
    """Forget a table."""
    return frame_of(SAMPLING, [])


PLACES = {name: Entry(f"{__name__}:{name}", "") for name in ("two_tables", "no_tables", "no_failures")}


def run(name: str, *words: object, out: Path) -> int:
    """The exit status."""
    try:
        run_named(PLACES, "study", name, [str(word) for word in words], out)
    except SystemExit as ended:
        return ended.code
    return 0


def test_tables_are_in_the_folder_or_beside_the_first_one(tmp_path, capsys):
    words = [f"trace={TRACE}", "platform=haswell-sim"]
    assert run("two_tables", *words, out=tmp_path / "a") == 0
    said = capsys.readouterr()
    assert "2 rows and 1 intervals are here" in said.out
    assert f"2 rows -> {tmp_path / 'a' / 'errors.csv'}" in said.out
    assert f"1 rows -> {tmp_path / 'a' / 'intervals.csv'}" in said.out
    assert "half done" in said.err and "skipped: no data" in said.err
    assert run("two_tables", *words, out=tmp_path / "b" / "mine.csv") == 0
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["intervals.csv", "mine.csv"]
    assert (tmp_path / "b" / "mine.csv").read_bytes() == (tmp_path / "a" / "errors.csv").read_bytes()
    assert read_file(SAMPLING, tmp_path / "b" / "mine.csv")["workload"].tolist() == ["phases"] * 2


def test_what_is_wrong_ends_with_status_1(tmp_path, capsys):
    assert run("two_tables", f"trace={TRACE}", "platform=haswell-sim", "wrong=yes", out=tmp_path) == 1
    assert "wrong: a check" in capsys.readouterr().err
    assert (tmp_path / "errors.csv").exists()


def test_a_failure_is_a_row_and_the_other_tables_are_empty(tmp_path, capsys):
    info = {"workload": "made", "status": "failed", "message": "QEMU-7\nand more"}
    (tmp_path / "info.json").write_text(json.dumps(info))
    words = [f"trace={tmp_path / 'info.json'}", "platform=haswell-sim"]
    assert run("two_tables", *words, out=tmp_path) == 0
    assert "failed: trace of made: recording failed; QEMU-7 and more" in capsys.readouterr().err
    (row,) = read_file(SAMPLING, tmp_path / "errors.csv").to_dict("records")
    head = {key: row[key] for key in ("workload", "platform", "method", "status")}
    assert head == {"workload": "made", "platform": "haswell-sim", "method": "blind", "status": "failed"}
    assert row["message"] == "trace of made: recording failed; QEMU-7 and more"
    assert len(read_file(INTERVALS, tmp_path / "intervals.csv")) == 0


def test_without_rows_for_failures_a_failure_ends_the_study(tmp_path):
    for name in ("no_failures", "no_tables"):
        with pytest.raises(TesseraError, match="this: "):
            run_named(PLACES, "study", name, ["fails=yes"] if name == "no_tables" else [], tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_a_study_without_tables_writes_its_own_file(tmp_path, capsys):
    assert run("no_tables", out=tmp_path / "given.txt") == run("no_tables", out=tmp_path) == 0
    assert (tmp_path / "given.txt").read_text() == (tmp_path / "made.txt").read_text() == "x"
    assert "rows" not in capsys.readouterr().out


def test_a_table_too_few_is_an_error_of_the_programmer(tmp_path):
    with pytest.raises(TypeError, match="one_of_two: 1 tables, declared: 2"):
        run_study(one_of_two, Run(tmp_path), {})


# -- sections of the configuration


def test_a_section_becomes_words_and_words_values_again(tmp_path):
    section = {
        "workloads": ["gups"], "platform": "no key here", "window_accesses": 5, "names": ["a", "b"],
        "texts": ["units=1,x=2", "full"], "whole": 7, "answer": True, "count": None, "text": "two words",
    }  # fmt: skip
    words = shlex.split(catalogue.words(section, platform="haswell-sim", names=["c"], cache=tmp_path))
    assert words == [
        "platform=haswell-sim", "names=c", "texts=units=1,x=2", "texts=full", "whole=7", "answer=yes",
        "text=two words", f"cache={tmp_path}",
    ]  # fmt: skip
    found = read_words("every", every, [*words, f"file={TRACE}"], tmp_path)
    assert found["texts"] == ("units=1,x=2", "full") and found["answer"] is True and found["names"] == ("c",)


def test_an_empty_list_is_a_word_without_a_value():
    assert catalogue.words({"names": []}) == "names=''"
    assert catalogue.words({"plans": ["units=1", "units=2"]}) == "plans=units=1 plans=units=2"
    assert read("names=")["names"] == ()


# -- the catalogue


def test_an_unknown_study_names_the_nearest():
    with pytest.raises(TesseraError, match="do you mean 'sampling'") as refused:
        load(STUDIES, "samplin")
    assert "tessera lab list" in refused.value.remedy
    with pytest.raises(TesseraError, match="tessera lab list names all"):
        load(STUDIES, "zzz")


def test_the_list_has_every_study():
    said = CliRunner().invoke(list_command, catch_exceptions=False).output
    assert all(f"{heading}:" in said for heading in GROUPS)
    listed = [line.split()[0] for line in said.splitlines() if line[:2] == "  " and line[2] != " "]
    assert listed == list(STUDIES)
    assert len(STUDIES) == sum(map(len, GROUPS.values()))  # no name twice


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_loads_and_its_help_teaches(name):
    one = load(STUDIES, name)
    said = CliRunner().invoke(show, [name], catch_exceptions=False).output
    assert STUDIES[name].about.endswith(".") and len(one.text.splitlines()[0]) <= 110
    for key, parameter in one.parameters.items():
        assert parameter.stands_for, key
        assert parameter.about, f"{name}: {key} has no text in Args"
        assert f"{key}={parameter.stands_for}" in said
    assert all(Path(table.file).suffix == ".csv" for table in one.tables)


@pytest.mark.parametrize("name", STUDIES)
def test_the_example_of_every_study_has_its_keys(name):
    one = load(STUDIES, name)
    assert f"lab run {name} " in one.text, "no example"
    example = one.text[one.text.index(f"lab run {name} ") :].replace("\\\n", " ").split("\n")[0]
    _, _, _, *words = shlex.split(example)
    given = [word.partition("=")[0] for word in words if "=" in word]
    assert "--out" in words and set(given) <= set(one.parameters)
    missing = [p.name for p in one.parameters.values() if p.required and p.name not in given]
    assert not missing, f"the example lacks {', '.join(missing)}"


def test_old_commands_of_studies_name_a_study():
    for old, new in COMMANDS.items():
        if new.startswith("lab run "):
            assert new.split()[2] in STUDIES, new
            assert new_name([*old.split(), "--help"]) == (old, new)
