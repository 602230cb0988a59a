#!/bin/bash
# build-guest.sh OUT: compile the guest's programs, statically linked, and copy the needed programs of the system.
#
# OUT/common becomes the guest's first file system: init, bin/busybox, tools, tests. If stress-ng is installed,
# OUT/stress-ng gets stress-ng and its libraries: 36 MB, which only its own runs load.
set -euo pipefail
out=${1:?usage: build-guest.sh OUT}
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$out"
root=$out/common
mkdir -p "$root"/{bin,tools,tests} "$out/stress-ng"
flags=(-std=gnu11 -O2 -Wall -Werror -static -pthread)

[[ -x /bin/busybox ]] || { printf 'build-guest.sh: /bin/busybox: it does not exist\n  what to do: apt-get install busybox-static\n' >&2; exit 2; }
install -m 755 /bin/busybox "$root/bin/busybox"
install -m 755 "$here/guest/init" "$root/init"
for script in "$here"/guest/tools/*; do
    install -m 755 "$script" "$root/tools/$(basename "$script")"
done
for program in "$here"/tools/*.c; do
    gcc "${flags[@]}" -o "$root/tools/$(basename "$program" .c)" "$program"
done
gcc "${flags[@]}" -o "$root/tests/selftest" "$here"/selftests/*.c
install -m 755 "$here/selftests/policies.sh" "$root/tests/policies"
gcc "${flags[@]}" -o "$root/tests/lives" "$here"/lives/*.c
install -m 755 "$here/lives/compare.sh" "$root/tests/lives-compare"
for program in "$here"/stress/*.c "$here"/broken/*.c "$here"/experiments/*.c; do
    [[ -e $program ]] || continue
    gcc "${flags[@]}" -o "$root/tests/$(basename "$program" .c)" "$program"
done
# Real programs for Table 6 and Figures 3 and 4.
workloads=$here/../workloads
for program in gups btree; do
    g++ -std=c++20 -O2 -static -I"$workloads" -I"$here/../common/include" -o "$root/tests/$program" \
        "$workloads/$program.cpp" "$workloads/common/arguments.cpp"
done

if command -v stress-ng > /dev/null; then
    install -D -m 755 "$(command -v stress-ng)" "$out/stress-ng/tests/stress-ng"
    ldd "$(command -v stress-ng)" | grep -o '/[^ ]*' | while read -r library; do
        install -D -m 755 "$library" "$out/stress-ng$library"
    done
fi
