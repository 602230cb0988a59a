# Sourced by ./run: a home folder that cannot be written, or none. Uses state, say.

writable() { [[ -w $1 ]]; }

# Caches of uv, pip, Snakemake, matplotlib, fontconfig and Jupyter go to .tessera/caches; settings in the home folder
# still count. Who has set one of these variables keeps it.
ensure_caches() {
    local home=${HOME:-/nonexistent} cache
    cache=${XDG_CACHE_HOME:-$home/.cache}
    [[ -d $cache ]] || cache=$(dirname "$cache")
    if writable "$cache" && writable "$home"; then return; fi
    say "the home folder $home cannot be written, so caches go to .tessera/caches"
    local caches=$state/caches
    mkdir -p "$caches"
    export HOME=$home XDG_CACHE_HOME=$caches
    export MPLCONFIGDIR=${MPLCONFIGDIR:-$caches/matplotlib} IPYTHONDIR=${IPYTHONDIR:-$caches/ipython}
    export JUPYTER_DATA_DIR=${JUPYTER_DATA_DIR:-$caches/jupyter} JUPYTER_RUNTIME_DIR=${JUPYTER_RUNTIME_DIR:-$caches/jupyter/runtime}
}
