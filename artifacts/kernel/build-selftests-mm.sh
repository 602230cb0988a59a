#!/bin/bash
# build-selftests-mm.sh OUT WORK: the kernel's own tests of memory management, from the source that the kernel is built
# from, statically linked, into OUT/mm.
#
# Not by their Makefile: it wants libcap, libnuma and liburing, and 32-bit programs. Each test that compiles without
# them is taken; these must, or something is wrong.
set -euo pipefail
out=${1:?usage: build-selftests-mm.sh OUT WORK} work=${2:?}
. "$(dirname "$(readlink -f "$0")")/source.sh"
tests=(cow gup_longterm hugepage-mmap hugepage-mremap hugetlb-madvise khugepaged ksm_functional_tests madv_populate
       map_fixed_noreplace map_populate mdwe_test mkdirty mlock2-tests mremap_dontunmap mremap_test mrelease_test
       mseal_test on-fault-limit pagemap_ioctl soft-dirty split_huge_page_test thuge-gen transhuge-stress
       uffd-stress uffd-unit-tests)

mkdir -p "$out/mm"
unpack "$work"
cd "$work/source"
make -s O="$work/objects" headers
cd tools/testing/selftests/mm
: > "$work/objects/local_config.h" # no liburing
for test in "${tests[@]}"; do
    more=()
    [[ $test == uffd-* ]] && more=(uffd-common.c)
    # The kernel's own flags are laxer than ours: these programs aren't warning-free.
    gcc -O1 -w -static -pthread -D_GNU_SOURCE -DKSFT_SKIP=4 -I"$work/objects" -I.. -isystem "$work/objects/usr/include" \
        -I../../../include -I../../../../tools/include/uapi \
        -o "$out/mm/$test" "$test.c" vm_util.c thp_settings.c "${more[@]}" -lrt -lm
done
