"""The steps of ./run on a machine that lacks something: packages, engine, uv."""

from __future__ import annotations

import re
import subprocess

import pytest

_PRELUDE = """
set -euo pipefail
say() {{ printf 'run: %s\\n' "$*" >&2; }}
fail() {{ printf 'run: %s: %s\\n  what to do: %s\\n' "$1" "$2" "$3" >&2; exit 2; }}
root={root} state={state} venv={state}/venv python=/usr/bin/python3 engine=docker yes=0
source {root}/bootstrap/packages.sh
source {root}/bootstrap/engine.sh
source {root}/bootstrap/environment.sh
source {root}/bootstrap/home.sh
"""


@pytest.fixture
def bash(root, tmp_path):
    """Run lines of bash after the steps were sourced."""

    def run(lines: str) -> subprocess.CompletedProcess[str]:
        script = _PRELUDE.format(root=root, state=tmp_path) + lines
        return subprocess.run(
            ["bash", "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL
        )

    return run


def test_missing_packages_are_named_and_nobody_is_not_asked(bash):
    done = bash("have_package() { [[ $1 != mmdebstrap && $1 != git ]]; }\nensure_packages")
    assert done.returncode == 2
    listed, error, remedy = done.stderr.splitlines()
    assert listed.endswith(": git mmdebstrap") and error.startswith("run: installing git mmdebstrap: ")
    assert "./run --yes" in remedy


def test_with_yes_exactly_the_missing_ones_are_installed(bash, tmp_path):
    done = bash(
        'yes=1\nhave_package() { [[ $1 != mmdebstrap ]]; }\nas_root() { echo "$@" >> "$state/calls"; }\n'
        "ensure_packages"
    )
    assert done.returncode == 0, done.stderr
    # apt's own output goes to a log; so do the words of the stand-in
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[0] == "apt-get update -qq"
    assert calls[1].endswith("apt-get install -y -qq --no-install-recommends mmdebstrap")
    assert (tmp_path / "packages-docker").read_text().split()[0] == "python3-venv"


def test_failed_installation_stops(bash):
    done = bash(
        "yes=1\nhave_package() { false; }\nas_root() { echo broken; [[ $1 != env ]]; }\nensure_packages"
    )
    assert done.returncode == 2
    assert "broken" in done.stderr and "run: apt-get install " in done.stderr


@pytest.mark.parametrize(
    "engine, packages",
    [("docker", "docker.io mmdebstrap"), ("none", "g++ cmake qemu-user"), ("apptainer", "ca-certificates")],
)
def test_packages_of_an_engine(bash, engine, packages):
    listed = bash(f"packages_of {engine}").stdout.split()
    assert set(packages.split()) <= set(listed)
    assert {"python3-venv", "git"} <= set(listed)


def test_python_alone_needs_one_package(bash):
    assert bash("packages_of python").stdout.split() == ["python3-venv"]


def test_an_old_python_is_refused_before_packages_are_installed(bash, tmp_path):
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" != -c ] || exit 1\necho Python 3.10.12\n')
    old.chmod(0o755)
    done = bash(
        f"python={old} yes=1\nas_root() {{ echo installs; }}\nhave_package() {{ false; }}\nensure_packages"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == f"run: Python >= 3.11: {old} is Python 3.10.12"
    assert "use Debian 12" in done.stderr and "Ubuntu" not in done.stderr


def test_a_step_of_the_environment_that_fails_says_what_to_check(bash, tmp_path):
    done = bash(f"python=/bin/false venv={tmp_path}/.venv\nensure_uv")
    assert done.returncode == 2 and "venv of /bin/false failed (above)" in done.stderr
    assert "what to do: check free space and permissions" in done.stderr
    done = bash(f"python=/bin/true venv={tmp_path}/.venv\nensure_uv")  # makes no .venv, so pip fails
    assert done.returncode == 2 and "pip failed (above)" in done.stderr
    assert "a machine without a network: docs/howto/package.md" in done.stderr


def test_an_environment_whose_change_was_killed_is_prepared_again(bash, tmp_path):
    """Also if the lock is what it was before: packages of both locks may be there."""
    checkout, programs = tmp_path / "checkout", tmp_path / "venv" / "bin"
    checkout.mkdir()
    programs.mkdir(parents=True)

    def start(lock: str, uv: str = ":") -> tuple[int, bool]:
        """The status, and whether uv was called."""
        (checkout / "requirements.lock").write_text(lock)
        for name, body in (("uv", f"touch {tmp_path}/synced\n{uv}"), ("python", f"echo {tmp_path}")):
            (programs / name).write_text(f"#!/bin/sh\n{body}\n")
            (programs / name).chmod(0o755)
        done = bash(
            f"root={checkout}\ncheck_python() {{ :; }}\ncheck_space() {{ :; }}\nensure_uv() {{ :; }}\n"
            "tell_uv_what_pip_knows() { :; }\nensure_environment"
        )
        called = (tmp_path / "synced").exists()
        (tmp_path / "synced").unlink(missing_ok=True)
        return done.returncode, called

    assert [start("first"), start("first")] == [(0, True), (0, False)]
    assert start("second", "kill -9 $PPID") == (-9, True)
    assert [start("first"), start("first")] == [(0, True), (0, False)]


def test_the_command_starts_the_python_beside_it_in_any_folder(bash, tmp_path):
    """No part of the path is code, and a link to the command works, too."""
    programs = tmp_path / "p$(touch X)\"'" / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    (programs / "python").chmod(0o755)
    done = bash('venv=$(echo "$state"/p*)/.venv; write_command; cat "$venv/bin/tessera"')
    assert done.returncode == 0 and "touch" not in done.stdout, done.stderr
    (tmp_path / "link").symlink_to(programs / "tessera")
    for command in (programs / "tessera", tmp_path / "link"):
        said = subprocess.run([command, "a", "b c"], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert said.stdout == f"{command}|a|b c|"
    assert not list(tmp_path.rglob("X"))


@pytest.mark.parametrize("free, status", [(1499, 2), (1500, 0)])
def test_an_environment_needs_room(bash, free, status):
    done = bash(f"df() {{ echo Avail; echo '  {free}'; }}\ncheck_space")
    assert done.returncode == status
    assert not status or (
        "needs 1500 MB, and 1499 MB are free" in done.stderr and "what to do" in done.stderr
    )


def test_a_machine_without_apt_is_refused_only_if_something_is_missing(bash):
    without = "command() { [[ $2 != apt-get ]]; }\nengine=python\n"
    done = bash(f"{without}have_package() {{ false; }}\nensure_packages")
    assert done.returncode == 2 and "no apt-get" in done.stderr and "install python3-venv" in done.stderr
    assert bash(f"{without}have_package() {{ true; }}\nensure_packages").returncode == 0


def test_apptainer_needs_nothing_of_docker(bash):
    of = {name: set(bash(f"packages_of {name}").stdout.split()) for name in ("docker", "apptainer")}
    assert of["docker"] - of["apptainer"] == {"docker.io", "mmdebstrap", "debian-archive-keyring"}
    asked = "docker() { echo asked >&2; false; }\nengine=apptainer\n"
    done = bash(f"{asked}apptainer() {{ echo 1.4.5; }}\nensure_engine")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("broken", ["command() { false; }", "apptainer() { echo no-squash-17; false; }"])
def test_apptainer_that_is_missing_or_broken_is_an_error(bash, broken):
    done = bash(f"engine=apptainer\n{broken}\nensure_engine")
    assert done.returncode == 2 and "engine 'apptainer'" in done.stderr
    assert ("no-squash-17" in done.stderr) == ("17" in broken)


def test_no_engine_names_the_other_way(bash):
    done = bash("engine_answers() { false; }\ncommand() { false; }\nensure_engine")
    assert done.returncode == 2
    assert "--engine none" in done.stderr


def test_uv_is_pinned_by_the_lock(root):
    """The lines that the bootstrap takes for uv are one requirement with hashes."""
    program = re.search(r"awk '([^']*)'", (root / "bootstrap" / "environment.sh").read_text()).group(1)
    taken = subprocess.run(
        ["awk", program, str(root / "requirements.lock")], capture_output=True, text=True, check=True
    ).stdout
    lines = taken.splitlines()
    assert re.fullmatch(r"uv==[\d.]+ \\", lines[0])
    assert len(lines) > 1
    assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line) for line in lines[1:])


SETTINGS = {
    "environment first": ("PIP_INDEX_URL=a", "", "a"),
    "uv's own stays": ("PIP_INDEX_URL=a UV_DEFAULT_INDEX=b", "", "b"),
    "configuration": ("true", "c", "c"),
    "nothing": ("true", "", ""),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_uv_learns_what_pip_knows(bash, name, tmp_path):
    variables, configured, expected = SETTINGS[name]
    programs = tmp_path / "venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").write_text(f'#!/bin/sh\n[ "$6" = global.index-url ] && echo {configured}\nexit 0\n')
    (programs / "python").chmod(0o755)
    done = bash(
        f"unset PIP_INDEX_URL UV_DEFAULT_INDEX UV_INDEX_URL\nexport {variables.replace('true', '')}\n"
        'tell_uv_what_pip_knows\necho "<${UV_DEFAULT_INDEX:-}>"'
    )
    assert done.stdout.splitlines()[-1] == f"<{expected}>", done.stderr


def test_folders_without_wheels_are_not_passed_on(bash, tmp_path):
    """pip ignores a folder of `find-links` that does not exist; uv would fail."""
    done = bash(f"existing_links {tmp_path} {tmp_path}/absent https://example.org/wheels; existing_links")
    assert done.stdout.splitlines() == [f"{tmp_path},https://example.org/wheels", ""]


CACHES = {
    "a home that can be written": ("[[ -w $1 ]]", False),
    "a home that cannot be written": ("false", True),
    "a cache folder of somebody else": ("[[ $1 != */.cache ]]", True),
}


@pytest.mark.parametrize("name", CACHES)
def test_caches_leave_a_home_that_cannot_be_written(bash, name, tmp_path):
    """Root may write anywhere, so the tests replace the check."""
    writable, moved = CACHES[name]
    (tmp_path / "home" / ".cache").mkdir(parents=True)
    done = bash(
        f'writable() {{ {writable}; }}\nunset XDG_CACHE_HOME\nHOME="{tmp_path}/home"\nensure_caches\n'
        'echo "$HOME ${XDG_CACHE_HOME:-home}"'
    )
    caches = tmp_path / "caches" if moved else "home"
    assert done.stdout.splitlines() == [f"{tmp_path}/home {caches}"], done.stderr
    assert (tmp_path / "caches").is_dir() is moved
    assert (f"{tmp_path}/home" in done.stderr) is moved


def test_no_home_is_like_one_that_cannot_be_written(bash, tmp_path):
    done = bash("unset HOME XDG_CACHE_HOME\nensure_caches\necho $XDG_CACHE_HOME")
    assert done.stdout.splitlines() == [str(tmp_path / "caches")], done.stderr
