#!/bin/bash
# build-kernel.sh OUT WORK SERIES FRAGMENT...: patch and build the kernel of /usr/src/linux-source-<series>.tar.xz.
#
# Unpacks into WORK (about 1.6 GB; deleted at the end), applies the patches that the file SERIES names, in its order
# and without fuzz, configures tinyconfig plus the fragments and demands that each of their lines took effect.
# Of several lines for one option, the last one counts. OUT gets bzImage, config, System.map and, if the patches have it,
# their kselftest pgtable_replication, built by the rule of `make kselftest`. With ORACLE=FOLDER, OUT also gets vmlinux,
# layouts.json (FOLDER/describe.py), the modules of FOLDER/module and the programs of FOLDER/guest.
# Uses ccache if it is there, and prints how many objects it found.
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
last_lines "$@" > "$work/fragment"
scripts/kconfig/merge_config.sh -m -O "$work/objects" "$work/objects/.config" "$work/fragment" > /dev/null
make -s O="$work/objects" olddefconfig
while read -r line; do
    option=${line%%=*}
    case $line in
        CONFIG_*=n) ! grep -q "^$option=" "$work/objects/.config" ;;
        CONFIG_*) grep -qxF "$line" "$work/objects/.config" ;;
        *) true ;;
    esac || refuse "configuration $line" "$(grep "$option[ =]" "$work/objects/.config" || echo "no such option")" \
                   "correct the fragment: an option that it depends on is missing"
done < "$work/fragment"
reset_cache_counts
make -s O="$work/objects" CC="$compiler" -j"${JOBS:-$(nproc)}" bzImage
print_cache_counts
if [[ -e tools/testing/selftests/mm/pgtable_replication.c ]]; then
    make -s -C tools/testing/selftests/mm OUTPUT="$work/objects" EXTRA_CFLAGS="-static -Werror" \
        "$work/objects/pgtable_replication"
    install -m 755 "$work/objects/pgtable_replication" "$out"
fi
if [[ -n ${ORACLE:-} ]]; then
    cp -r "$ORACLE/module" "$work/module"
    make -s O="$work/objects" CC="$compiler" modules
    make -s O="$work/objects" CC="$compiler" M="$work/module" modules
    install -m 644 "$work"/module/*.ko "$work/objects/vmlinux" "$out"
    python3 "$ORACLE/describe.py" "$out/vmlinux" > "$out/layouts.json"
    for program in "$ORACLE"/guest/*.c; do
        gcc -std=gnu11 -O2 -Wall -Werror -static -o "$out/$(basename "$program" .c)" "$program"
    done
fi
install -m 644 "$work/objects/arch/x86/boot/bzImage" "$work/objects/System.map" "$out"
install -m 644 "$work/objects/.config" "$out/config"
