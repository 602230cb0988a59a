# Sourced by ./run --offline: everything that ./run would download comes from the folder offline/ of a package that
# `tessera dev package --offline` wrote (docs/howto/package.md). Uses root, state, venv, engine, say, fail.

offline=$root/offline

# Each file of the package that is not a result has its checksum; checked once, as a half-copied zip would fail late.
check_package() {
    [[ -e $offline/index.json && -e $root/SHA256SUMS ]] ||
        fail "./run --offline" "this folder has no offline/index.json" \
            "unpack a zip that was written by: ./run tessera dev package --offline, and start its own ./run"
    local stamp; stamp=$(sha256sum < "$root/SHA256SUMS")
    if [[ -e $state/package && $(< "$state/package") == "$stamp" ]]; then return; fi
    say "checking the package's checksums"
    local wrong
    wrong=$(cd "$root" && grep -vE '^[0-9a-f]{64}  results/' SHA256SUMS | sha256sum --quiet --check 2>&1 | head -5) || true
    [[ -z $wrong ]] ||
        fail "./run --offline" "files differ from SHA256SUMS: $wrong" "copy and unpack the zip again, into an empty folder"
    printf '%s\n' "$stamp" > "$state/package"
}

# pip and uv read only the package's wheels.
use_package_wheels() {
    compgen -G "$offline/wheels/*.whl" > /dev/null ||
        fail "./run --offline" "this package has no Python packages (it was made --without wheels)" \
            "use a package with them, or run without --offline"
    export TESSERA_OFFLINE=1 PIP_NO_INDEX=1 UV_NO_INDEX=1 UV_OFFLINE=1 PIP_FIND_LINKS UV_FIND_LINKS
    # pip splits the variable at spaces, uv at commas
    PIP_FIND_LINKS=$("$python" -P -c 'import pathlib, sys; print(pathlib.Path(sys.argv[1]).as_uri())' "$offline/wheels")
    UV_FIND_LINKS=$PIP_FIND_LINKS
    unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL UV_DEFAULT_INDEX UV_INDEX_URL UV_INDEX
}

# Nothing can be installed: the message names all that is missing.
require_packages() {
    local package missing=()
    for package in $(packages_of "$engine"); do
        case $package in  # images come from the package, nothing is built from Debian's archive
            mmdebstrap | debian-archive-keyring | ca-certificates | chromium) ;;
            libpango* | libharfbuzz*) have_package "$package" || say "without $package the report has no PDF" ;;
            git) have_package git || say "without git, the provenance names no commit" ;;
            *) have_package "$package" || missing+=("$package") ;;
        esac
    done
    ((${#missing[@]} == 0)) ||
        fail "./run --offline" "missing system packages: ${missing[*]}" "install them while there is a network"
}

# The images that this machine's engine does not have. An image is known by its id: everybody can give its tag to another one.
load_images() {
    local listed tag id absent=()
    listed=$("$python" -P -c 'import json, sys
for tag, one in json.load(open(sys.argv[1]))["images"].items(): print(tag, one["id"])' "$offline/index.json") ||
        fail "offline/index.json" "it does not name the images with their ids (above)" "copy and unpack the zip again, into an empty folder"
    while read -r tag id; do
        [[ -z $tag ]] || docker image inspect "$id" > /dev/null 2>&1 || absent+=("$tag")
    done <<< "$listed"
    ((${#absent[@]})) || return 0
    say "loading ${absent[*]} from the package"
    docker load --quiet --input "$offline/images.tar.gz" >&2 ||
        fail "loading offline/images.tar.gz" "docker load failed (above)" "free disk space; docker info shows where images lie"
    while read -r tag id; do
        docker image inspect "$id" > /dev/null 2>&1 ||
            fail "image $tag of offline/images.tar.gz" "it is not $id, which offline/index.json names" \
                "copy and unpack the zip again, into an empty folder"
    done <<< "$listed"
}
