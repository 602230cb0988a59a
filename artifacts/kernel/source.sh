# source.sh: Debian's kernel source, unpacked and patched. Sourced by the scripts beside it, not run.
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
wanted=$(awk '$1 == "series" { print $2 }' "$folder/SOURCE")

refuse() { # asked, found, remedy
    printf '%s: %s: %s\n  what to do: %s\n' "$(basename "$0")" "$1" "$2" "$3" >&2
    exit 2
}

# unpack WORK: WORK/source and WORK/objects, empty before; deleted when the script ends. KERNEL_SOURCE names an archive
# that takes the place of the installed one.
unpack() {
    local archive=${KERNEL_SOURCE:-/usr/src/linux-source-$wanted.tar.xz} work=$1
    [[ -r $archive ]] || refuse "Linux $wanted" "$archive does not exist" "apt-get install linux-source-$wanted"
    rm -rf -- "$work"
    mkdir -p "$work/source" "$work/objects"
    unpacked=$work  # read when the script ends: a path in the text of the trap would be code
    trap 'rm -rf -- "$unpacked"' EXIT
    tar -xJf "$archive" -C "$work/source" --strip-components=1
}

# apply PATCH: exactly, without fuzz; in the source's folder.
apply() {
    patch -p1 --fuzz=0 --silent < "$1" ||
        refuse "patch $1" "it doesn't apply to $(make -s kernelversion)" \
               "rebase the series (docs/explain/kernel.md), or install the version of artifacts/kernel/SOURCE"
}

# last_lines FRAGMENT...: the last line of each option, sorted.
last_lines() {
    awk -F= '/^CONFIG_/ { line[$1] = $0 } END { for (option in line) print line[option] }' "$@" | sort
}

# The same input gives the same kernel: no user, host or date goes into it.
export KBUILD_BUILD_USER=tessera KBUILD_BUILD_HOST=tessera KBUILD_BUILD_TIMESTAMP='1970-01-01'
compiler=gcc
if command -v ccache > /dev/null; then compiler="ccache gcc"; fi

# How many objects the compiler's cache had. Both do nothing where there is no ccache.
reset_cache_counts() {
    if [[ $compiler == ccache* ]]; then ccache --zero-stats > /dev/null; fi
}
print_cache_counts() {
    if [[ $compiler == ccache* ]]; then
        ccache --print-stats | awk '
            $1 ~ /^(direct|preprocessed)_cache_hit$/ { hits += $2 }
            $1 == "cache_miss" { misses = $2 }
            END { printf "compiler cache: %d of %d objects found\n", hits, hits + misses }'
    fi
}
