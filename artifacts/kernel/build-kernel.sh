#!/bin/bash
# build-kernel.sh OUT WORK SERIES FRAGMENT...: patch and build the kernel of /usr/src/linux-source-<series>.tar.xz.
#
# Unpacks into WORK (about 1.6 GB; deleted at the end), applies the patches that the file SERIES names, in its order
# and without fuzz, configures tinyconfig plus the fragments and demands that each of their lines took effect.
# OUT gets bzImage, config and System.map. Uses ccache if it is there, and prints how many objects it found.
set -euo pipefail
out=${1:?usage: build-kernel.sh OUT WORK SERIES FRAGMENT...}
work=${2:?} series=${3:?}
shift 3
. "$(dirname "$(readlink -f "$0")")/source.sh"

mkdir -p "$out"
unpack "$work"
cd "$work/source"
while read -r patch; do
    apply "$patch"
done < "$series"

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
reset_cache_counts
make -s O="$work/objects" CC="$compiler" -j"$(nproc)" bzImage
print_cache_counts
install -m 644 "$work/objects/arch/x86/boot/bzImage" "$work/objects/System.map" "$out"
install -m 644 "$work/objects/.config" "$out/config"
