# Sourced by ./run: the Python environment .venv with exactly the packages of requirements.lock.
# Uses root, state, venv, python, say, fail.

# The environment is up to date if the lock, the interpreter and the checkout's path match the stamp.
environment_stamp() {
    { sha256sum < "$root/requirements.lock"; "$python" --version; echo "$root bytecode"; } | sha256sum
}

ensure_environment() {
    [[ -x $python ]] || fail "Python" "there is no $python" "sudo apt-get install python3 python3-venv"
    local stamp; stamp=$(environment_stamp)
    if [[ -x $venv/bin/tessera && -e $state/environment && $(< "$state/environment") == "$stamp" ]]; then
        return
    fi
    check_python
    check_space
    say "preparing the Python environment .venv"
    rm -f "$state/environment"  # from here to the new stamp, a killed run leaves an environment that none describes
    ensure_uv
    tell_uv_what_pip_knows
    # Compile to bytecode now. If Python can't write it later (a read-only folder, PYTHONDONTWRITEBYTECODE),
    # each of the thousands of processes of a run would compile pandas and scikit-learn again, for seconds.
    "$venv/bin/uv" pip sync --quiet --compile-bytecode --require-hashes --python "$venv/bin/python" \
        --build-constraints "$root/requirements-build.lock" "$root/requirements.lock" ||
        fail "installing requirements.lock" "uv failed (above)" "$check_downloads"
    # Tessera itself runs from the checkout.
    echo "$root/src" > "$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tessera.pth"
    write_command
    printf '%s\n' "$stamp" > "$state/environment"
}

# A shell starts Python, because a line `#!` can't name a path with spaces. It starts the Python beside it: a path in the
# text of a script would be code.
write_command() {
    cat > "$venv/bin/tessera" <<'SCRIPT'
#!/bin/sh
'''exec' "$(dirname "$(readlink -f "$0")")/python" "$0" "$@"
' '''
from tessera.cli.main import main

main()
SCRIPT
    chmod +x "$venv/bin/tessera"
}

# Before anything is installed.
check_python() {
    [[ ! -x $python ]] || "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "Python >= 3.11" "$python is $("$python" --version)" \
            "use Debian 12, whose python3 is 3.11: Tessera is tested there only"
}

check_downloads="check the network, pip's settings and free space (df -h); a machine without a network: docs/howto/package.md"
environment_mb=1500  # of .venv with its bytecode
check_space() {
    local free; free=$(df --output=avail -B1M "$root" | tail -1)
    ((free >= environment_mb)) ||
        fail "the Python environment .venv" "it needs $environment_mb MB, and $((free)) MB are free in $root" \
            "free space on that disk, then run the same command again"
}

# pip installs uv; requirements.lock pins its version, as for every other package.
ensure_uv() {
    local pinned; pinned=$(mktemp)
    awk '/^[^ #]/ { keep = /^uv==/ } keep && !/^ *#/' "$root/requirements.lock" > "$pinned"
    [[ -s $pinned ]] || fail "uv" "requirements.lock does not pin it" "git checkout -- requirements.lock"
    local version; version=$(sed -n 's/^uv==\([^ ]*\).*/\1/p' "$pinned")
    if [[ $("$venv/bin/uv" --version 2> /dev/null) != "uv $version"* ]]; then
        "$python" -P -m venv "$venv" ||
            fail "the Python environment .venv" "venv of $python failed (above)" "check free space and permissions (df -h .venv, ls -ld .venv)"
        "$venv/bin/python" -P -m pip install --quiet --disable-pip-version-check --require-hashes \
            --requirement "$pinned" ||
            fail "installing uv $version" "pip failed (above)" "$check_downloads"
    fi
    rm -f "$pinned"
}

# Machines behind a mirror configure pip. uv does not read pip's settings, so we pass them on, unless uv has
# its own. uv trusts the same certificates as the system (apt, git).
tell_uv_what_pip_knows() {
    export UV_SYSTEM_CERTS=${UV_SYSTEM_CERTS:-true} UV_PYTHON_DOWNLOADS=never
    local index links cert
    index=$(pip_setting index-url) links=$(pip_setting find-links) cert=$(pip_setting cert)
    [[ -z $index || -n ${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-} ]] || export UV_DEFAULT_INDEX=$index
    links=$(existing_links $links)
    [[ -z $links || -n ${UV_FIND_LINKS:-} ]] || export UV_FIND_LINKS=$links
    [[ -z $cert || -n ${SSL_CERT_FILE:-} ]] || export SSL_CERT_FILE=$cert
}

# pip ignores folders that do not exist; uv fails.
existing_links() { # addresses and folders; prints them with commas
    local link found=()
    for link; do
        if [[ $link == *://* || -e $link ]]; then found+=("$link"); fi
    done
    local IFS=,
    echo "${found[*]-}"
}

pip_setting() { # name, as in pip's configuration file; the environment comes first, as in pip
    local variable=PIP_${1^^}; variable=${variable//-/_}
    if [[ -n ${!variable:-} ]]; then
        echo "${!variable}"
    else
        "$venv/bin/python" -P -m pip config get "global.$1" 2> /dev/null || true
    fi
}

# The lock holds versions and hashes, but no address of a package index.
compile_lock() {
    tell_uv_what_pip_knows
    "$venv/bin/uv" pip compile --quiet --generate-hashes --python-version 3.11 --no-emit-index-url \
        --no-emit-find-links --no-header --output-file "$root/requirements.lock" "$@" "$root/requirements.in"
    say "requirements.lock: $(grep -c == "$root/requirements.lock") packages"
}
