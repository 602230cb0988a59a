#!/bin/bash
# build-series.sh OUT WORK SERIES FRAGMENT...: the kernel after each patch of the file SERIES, in one tree.
#
# Unpacks into WORK (about 1.2 GB; deleted at the end) and compiles only what each patch changed. OUT/<patch's name>
# gets bzImage, or `errors` if the kernel with the patches up to it doesn't build or compiles with a warning.
# What OUT has already isn't built again, so a build that was ended goes on where it was.
set -euo pipefail
out=${1:?usage: build-series.sh OUT WORK SERIES FRAGMENT...}
work=${2:?} series=${3:?}
shift 3
here=$(cd "$(dirname "$0")" && pwd)

refuse() { # asked, found, remedy
    printf 'build-series.sh: %s: %s\n  what to do: %s\n' "$1" "$2" "$3" >&2
    exit 2
}

wanted=$(awk '$1 == "series" { print $2 }' "$here/SOURCE")
archive=/usr/src/linux-source-$wanted.tar.xz
[[ -r $archive ]] || refuse "Linux $wanted" "$archive does not exist" "apt-get install linux-source-$wanted"

rm -rf "$work"
mkdir -p "$work/source" "$work/objects"
trap 'rm -rf "$work"' EXIT
tar -xJf "$archive" -C "$work/source" --strip-components=1
cd "$work/source"
compiler=gcc
if command -v ccache > /dev/null; then compiler="ccache gcc"; fi
export KBUILD_BUILD_USER=tessera KBUILD_BUILD_HOST=tessera KBUILD_BUILD_TIMESTAMP='1970-01-01'

make -s O="$work/objects" tinyconfig
cat "$@" > "$work/fragment" # a later line of an option wins
while read -r patch; do
    patch -p1 --fuzz=0 --silent < "$patch" ||
        refuse "patch $patch" "it doesn't apply to $(make -s kernelversion)" \
               "rebase the series (docs/kernel.md), or install the version of artifacts/kernel/SOURCE"
    result=$out/$(basename "$patch" .patch)
    if [[ -e $result/bzImage ]]; then continue; fi
    mkdir -p "$result"
    scripts/kconfig/merge_config.sh -m -O "$work/objects" "$work/objects/.config" "$work/fragment" > /dev/null
    make -s O="$work/objects" olddefconfig
    grep -qx CONFIG_PGTABLE_REPLICATION=y "$work/objects/.config" ||
        refuse "CONFIG_PGTABLE_REPLICATION=y" "it isn't after $(basename "$patch")" "correct the patch's dependencies"
    if nice make -s O="$work/objects" CC="$compiler" -j"$(nproc)" bzImage 2> "$result/errors" &&
        [[ ! -s $result/errors ]]; then
        rm "$result/errors"
        install -m 644 "$work/objects/arch/x86/boot/bzImage" "$result/bzImage"
        printf 'built %s\n' "$(basename "$patch")"
    fi
done < "$series"
