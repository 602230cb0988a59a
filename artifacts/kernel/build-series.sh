#!/bin/bash
# build-series.sh WORK SERIES FRAGMENT...: the kernel after each patch of a series, in one tree.
#
# A line of the file SERIES is a patch and a folder, which gets bzImage, or `errors` if the kernel with the patches up
# to this one doesn't build or compiles with a warning. Unpacks into WORK (about 1.2 GB; deleted at the end) and
# compiles only what each patch changed. A folder with a bzImage is left as it is.
set -euo pipefail
work=${1:?usage: build-series.sh WORK SERIES FRAGMENT...}
series=${2:?}
shift 2
. "$(dirname "$(readlink -f "$0")")/source.sh"

unpack "$work"
cd "$work/source"
make -s O="$work/objects" tinyconfig
last_lines "$@" > "$work/fragment"
while read -r patch result; do
    apply "$patch"
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
    else
        printf 'NOT built: %s\n' "$(basename "$patch")"
    fi
done < "$series"
