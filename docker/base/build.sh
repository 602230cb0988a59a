#!/bin/bash
# Builds the root file system of the base image from Debian's archive; no registry takes part.
#
#   build.sh <rootfs.tar>            writes the tar and <rootfs.tar>.epoch (seconds since 1970, UTC)
#
# Arguments come from the environment, so that the caller can hash them:
#   DEBIAN_SUITE       suite to install (required)
#   DEBIAN_MIRROR      archive to use; empty: mmdebstrap's own default for the suite
#   DEBIAN_SNAPSHOT    date in a snapshot archive, YYYYMMDDThhmmssZ; needs DEBIAN_MIRROR, is appended to it
#
# The same package versions give the same bytes: SOURCE_DATE_EPOCH clamps every time stamp, and the
# only files that would differ between two runs (logs, caches) are left out.
set -euo pipefail

tar=${1:?usage: build.sh <rootfs.tar>}
suite=${DEBIAN_SUITE:?DEBIAN_SUITE is not set}
mirror=${DEBIAN_MIRROR:-}
snapshot=${DEBIAN_SNAPSHOT:-}

fail() { printf 'docker/base/build.sh: %s\n  what to do: %s\n' "$1" "$2" >&2; exit 2; }

# Without a snapshot the archive moves, and a date taken from it would move too: use a constant.
export SOURCE_DATE_EPOCH=1735689600 # 2025-01-01
archive=()
if [[ -n $snapshot ]]; then
    [[ $snapshot =~ ^[0-9]{8}T[0-9]{6}Z$ ]] ||
        fail "DEBIAN_SNAPSHOT '$snapshot' is not a date like 20250520T000000Z" "correct the date"
    [[ -n $mirror ]] ||
        fail "DEBIAN_SNAPSHOT '$snapshot' without DEBIAN_MIRROR" "give the snapshot archive's address too"
    d=$snapshot
    SOURCE_DATE_EPOCH=$(date -u -d "${d:0:8} ${d:9:2}:${d:11:2}:${d:13:2}" +%s)
    mirror=${mirror%/}/$snapshot
    # Snapshots outlive the validity that their own Release files state.
    archive+=(--aptopt='Acquire::Check-Valid-Until "false"')
fi

mmdebstrap --variant=minbase --format=tar --quiet \
    --aptopt='APT::Install-Recommends "false"' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/info/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    "${archive[@]}" "$suite" "$tar" ${mirror:+"$mirror"}
printf '%s\n' "$SOURCE_DATE_EPOCH" > "$tar.epoch"
