# Sourced by ./run: the system packages that the chosen engine needs.
# Uses engine, yes, say, fail. Lists the missing packages and asks before it installs them.

packages_of() { # engine, or python: what the environment alone needs
    printf '%s\n' python3-venv  # ca-certificates come with it
    if [[ $1 == python ]]; then return; fi
    printf '%s\n' ca-certificates git libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0
    # Tests open the report's pages in a browser and are skipped without one (300 MB).
    if [[ ${verb:-} == test ]]; then printf '%s\n' chromium; fi
    case $1 in
        docker) printf '%s\n' docker.io mmdebstrap debian-archive-keyring ;;
        apptainer) ;;  # Debian 12 has no package of it, and it uses nothing of Docker
        none)
            printf '%s\n' g++ cmake ninja-build pkg-config dpkg-dev xz-utils qemu-user \
                libgtest-dev libgmock-dev libbenchmark-dev libzstd-dev libcapstone-dev liblemon-dev ;;
    esac
}

# Whether a package, or a program that replaces it, is installed.
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

# dpkg is slow, so a stamp per engine records that the packages are installed.
ensure_packages() {
    local package missing=() stamp=$state/packages-$engine
    local wanted; wanted=$(packages_of "$engine")
    if [[ -e $stamp && $(< "$stamp") == "$wanted" && $stamp -nt /var/lib/dpkg/status ]]; then return; fi
    check_python
    if [[ ${offline_run:-0} == 1 ]]; then require_packages; return; fi
    for package in $wanted; do
        have_package "$package" || missing+=("$package")
    done
    if ((${#missing[@]})); then
        command -v apt-get > /dev/null ||
            fail "this machine" "it has no apt-get, which ./run needs to install packages (tested on Debian 12 only)" \
                "install ${missing[*]} and Python >= 3.11 yourself, then use environment.yml"
        say "missing system packages: ${missing[*]}"
        allowed_to_install "${missing[@]}"
        # A broken third-party archive must not stop us; the installation below fails if it matters.
        as_root apt-get update -qq || say "apt-get update failed; using the package lists of the last update"
        as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${missing[@]}" > "$state/apt.log" 2>&1 ||
            { tail -20 "$state/apt.log" >&2
              fail "apt-get install ${missing[*]}" "it failed, see its output above" "repair apt, then try again"; }
    fi
    printf '%s\n' "$wanted" > "$stamp"
}

allowed_to_install() {
    ((EUID == 0)) || command -v sudo > /dev/null ||
        fail "installing $*" "this user is not root, and sudo is not installed" "as root: apt-get install $*"
    ((yes)) && return
    [[ -t 0 ]] || fail "installing $*" "it needs your permission, and standard input is not a terminal" \
        "./run --yes ..., or: sudo apt-get install $*"
    local answer
    read -r -p "run: install them with apt-get$( ((EUID == 0)) || echo ' (sudo)')? [y/N] " answer
    [[ $answer == [yY]* ]] || fail "installing $*" "you did not allow it" "sudo apt-get install $*"
}
