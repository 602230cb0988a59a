# Sourced by ./run: the system packages that the chosen engine needs.
# Uses engine, yes, say, fail; nothing is installed before it was named and allowed.

packages_of() { # engine
    printf '%s\n' python3-venv ca-certificates git libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0
    # The report's tests open its pages; without a browser they are skipped (it takes 300 MB).
    if [[ ${verb:-} == test ]]; then printf '%s\n' chromium; fi
    case $1 in
        docker) printf '%s\n' docker.io mmdebstrap debian-archive-keyring ;;
        none)
            printf '%s\n' g++ cmake ninja-build pkg-config dpkg-dev xz-utils qemu-user \
                libgtest-dev libgmock-dev libbenchmark-dev libzstd-dev libcapstone-dev liblemon-dev ;;
    esac
}

# Whether a package is here, or something that does its work under another name.
have_package() {
    case $1 in
        docker.io) command -v docker > /dev/null && { command -v dockerd > /dev/null || engine_answers; } ;;
        git | mmdebstrap) command -v "$1" > /dev/null ;;
        python3-venv) /usr/bin/python3 -c 'import ensurepip, venv' 2> /dev/null ;;
        *) [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null) == installed ]] ;;
    esac
}

as_root() {
    if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

# The same packages once found are not looked for again (dpkg is slow): one stamp per engine.
ensure_packages() {
    local package missing=() stamp=$state/packages-$engine
    local wanted; wanted=$(packages_of "$engine")
    if [[ -e $stamp && $(< "$stamp") == "$wanted" && $stamp -nt /var/lib/dpkg/status ]]; then return; fi
    command -v apt-get > /dev/null ||
        fail "this machine" "it has no apt-get: ./run sets Debian 12 and Ubuntu 24.04 up" \
            "install by hand: $(echo $wanted), Python >= 3.11, then use environment.yml"
    for package in $wanted; do
        have_package "$package" || missing+=("$package")
    done
    if ((${#missing[@]})); then
        say "missing system packages: ${missing[*]}"
        allowed_to_install "${missing[@]}"
        # A broken third-party archive must not stop us: the installation decides.
        as_root apt-get update -qq || say "apt-get update failed; trying with the lists that are here"
        as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${missing[@]}" > "$state/apt.log" 2>&1 ||
            { tail -20 "$state/apt.log" >&2
              fail "apt-get install ${missing[*]}" "it failed (above)" "mend apt, then start again"; }
    fi
    printf '%s\n' "$wanted" > "$stamp"
}

allowed_to_install() {
    ((EUID == 0)) || command -v sudo > /dev/null ||
        fail "installing $*" "this user is not root and there is no sudo" "as root: apt-get install $*"
    ((yes)) && return
    [[ -t 0 ]] || fail "installing $*" "there is nobody to ask" "./run --yes ..., or install them first"
    local answer
    read -r -p "run: install them with apt-get$( ((EUID == 0)) || echo ' (sudo)')? [y/N] " answer
    [[ $answer == [yY]* ]] || fail "installing $*" "not allowed" "install them, then start again"
}
