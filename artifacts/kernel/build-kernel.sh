#!/bin/bash
# build-kernel.sh OUT WORK SERIES FRAGMENT...: patch and build the kernel of /usr/src/linux-source-<series>.tar.xz.
#
# Unpacks into WORK (about 1.6 GB; deleted at the end), applies the patches that the file SERIES names, in its order
# and without fuzz, configures tinyconfig plus the fragments and demands that each of their lines took effect.
# OUT gets bzImage, config and System.map. Uses ccache if it is there.
set -euo pipefail
out=${1:?usage: build-kernel.sh OUT WORK SERIES FRAGMENT...}
work=${2:?} series=${3:?}
shift 3
here=$(cd "$(dirname "$0")" && pwd)

refuse() { # asked, found, remedy
    printf 'build-kernel.sh: %s: %s\n  what to do: %s\n' "$1" "$2" "$3" >&2
    exit 2
}

wanted=$(awk '$1 == "series" { print $2 }' "$here/SOURCE")
archive=/usr/src/linux-source-$wanted.tar.xz
[[ -r $archive ]] || refuse "Linux $wanted" "$archive does not exist" "apt-get install linux-source-$wanted"

rm -rf "$work"
mkdir -p "$work/source" "$work/objects" "$out"
trap 'rm -rf "$work"' EXIT
tar -xJf "$archive" -C "$work/source" --strip-components=1
cd "$work/source"
while read -r patch; do
    patch -p1 --fuzz=0 --silent < "$patch" ||
        refuse "patch $patch" "it doesn't apply to $(make -s kernelversion)" \
               "rebase the series (docs/kernel.md), or install the version of artifacts/kernel/SOURCE"
done < "$series"

compiler=gcc
if command -v ccache > /dev/null; then compiler="ccache gcc"; fi
# The same input gives the same kernel: no user, host or date goes into it.
export KBUILD_BUILD_USER=tessera KBUILD_BUILD_HOST=tessera KBUILD_BUILD_TIMESTAMP='1970-01-01'
make -s O="$work/objects" tinyconfig
scripts/kconfig/merge_config.sh -m -O "$work/objects" "$work/objects/.config" "$@" > /dev/null
make -s O="$work/objects" olddefconfig
while read -r line; do
    option=${line%%=*}
    case $line in
        CONFIG_*=n) ! grep -q "^$option=" "$work/objects/.config" ;;
        CONFIG_*) grep -qxF "$line" "$work/objects/.config" ;;
        *) true ;;
    esac || refuse "configuration $line" "$(grep "$option[ =]" "$work/objects/.config" || echo "no such option")" \
                   "correct the fragment: an option that it depends on is missing"
done < <(cat "$@")
make -s O="$work/objects" CC="$compiler" -j"$(nproc)" bzImage
install -m 644 "$work/objects/arch/x86/boot/bzImage" "$work/objects/System.map" "$out"
install -m 644 "$work/objects/.config" "$out/config"
