#!/bin/bash
# Builds a root file system with nothing but the C library of another Debian release, a shell and a few tools.
#
#   build.sh <rootfs.tar>
#
# Arguments come from the environment: DEBIAN_SUITE (required), DEBIAN_MIRROR, DEBIAN_SNAPSHOT, as for docker/base.
# The packages are unpacked and not configured, because no program of the new release has to run for that.
set -euo pipefail

tar=${1:?usage: build.sh <rootfs.tar>}
suite=${DEBIAN_SUITE:?DEBIAN_SUITE is not set}
mirror=${DEBIAN_MIRROR:-}
snapshot=${DEBIAN_SNAPSHOT:-}
archive=()
if [[ -n $snapshot ]]; then
    mirror=${mirror:?DEBIAN_SNAPSHOT needs DEBIAN_MIRROR, the address of the snapshot archive}
    mirror=${mirror%/}/$snapshot
    # Snapshots outlive the validity that their own Release files state.
    archive+=(--aptopt='Acquire::Check-Valid-Until "false"')
fi

# Debian 13 expects /lib and the like to be links into /usr, and creates them while it is configured.
# shellcheck disable=SC2016  # $1 is the root file system, for the shell of the hook
mmdebstrap --variant=extract --format=tar --quiet --include=libc6,dash,coreutils \
    --aptopt='APT::Install-Recommends "false"' \
    --setup-hook='for d in bin sbin lib lib64; do mkdir -p "$1/usr/$d"; ln -s "usr/$d" "$1/$d"; done' \
    "${archive[@]}" "$suite" "$tar" ${mirror:+"$mirror"}
