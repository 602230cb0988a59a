#!/bin/busybox sh
# lives-compare SECONDS FIRST OPERATIONS [MODE...]: lives of the seeds FIRST, FIRST+1, ... without and with replicas.
#
# For each seed the plain life comes first; the lives of the other modes must print the same lines. Modes:
#   again       the plain one once more: what the lines owe to chance
#   replicated  on all nodes from birth
#   late        the mask of nodes changes in mid-life
#   policy      as late, while vm.pgtable_replication changes
#   balancing   replicated, under automatic NUMA balancing: its contents only, as the rest depends on time then
# One line for each life: `life SEED MODE OUTCOME OPERATIONS`; OUTCOME is same, disturbed (other lines, after reclaim
# or a huge page that there was no memory for), contents (wrong data or a failed call), entries, or bits (only those
# differ). A difference is followed by `reproduce` with the fewest operations that show it, and its first lines.
# /out/plain.gz gets the plain lives. Exit status 1 after a difference.
seconds=$1 seed=$2 operations=$3
[ -n "$operations" ] || { echo "usage: lives-compare SECONDS FIRST OPERATIONS [MODE...]" >&2; exit 2; }
shift 3
modes=${*:-again replicated late policy balancing}
work=/tmp/lives
policy=/proc/sys/vm/pgtable_replication
huge=/sys/kernel/mm/transparent_hugepage
bad=0

# What comes at its own times is off: khugepaged, merging, compaction, reclaim by boosts, balancing, and reading ahead from swap.
prepare() {
    mkdir -p $work
    echo 86400000 > $huge/khugepaged/scan_sleep_millisecs
    echo madvise > $huge/enabled
    lives hold &
    holder=$!
    echo 0 > /sys/kernel/mm/ksm/run
    echo 0 > /proc/sys/kernel/numa_balancing
    echo 0 > /proc/sys/vm/compaction_proactiveness
    echo 0 > /proc/sys/vm/watermark_boost_factor
    echo 0 > /proc/sys/vm/page-cluster
    grep -q ram0 /proc/swaps || { mkswap /dev/ram0 > /dev/null && swapon /dev/ram0; } || exit
    echo 32 > /proc/sys/vm/nr_hugepages
    sleep 1
}

disturbances() {
    awk '/^(allocstall|pgscan_(kswapd|direct)|thp_(fault_fallback|collapse_alloc_failed|zero_page_alloc_failed|migration_fail)|compact_(stall|daemon_wake)|oom_kill)/' /proc/vmstat
}

# live FILE OPERATIONS MODE: status 0, or 1 if something disturbed it. A failed life says so in its last line.
live() {
    before=$(disturbances)
    lives $seed $2 $3 > $1 2> $work/stderr
    status=$?
    [ $status != 2 ] || { cat $work/stderr >&2; exit 2; }
    [ $status -le 1 ] || echo "FAILED seed $seed: lives ended with status $status" >> $1
    [ "$before" = "$(disturbances)" ]
}

switch_policies() {
    while :; do
        for value in 3 1 2 1 0 1; do
            echo $value > $policy 2> /dev/null
            sleep 0.1
        done
    done
}

# pair OPERATIONS MODE: both lives; the one of other modes as $work/other. Sets `steady`.
pair() {
    steady=1
    case $2 in
    again) live $work/other $1 plain || steady=0 ;;
    replicated | late) live $work/other $1 $2 || steady=0 ;;
    policy)
        switch_policies &
        switcher=$!
        live $work/other $1 late || steady=0
        kill $switcher
        wait $switcher 2> /dev/null
        echo 1 > $policy
        ;;
    balancing)
        echo 1 > /proc/sys/kernel/numa_balancing
        live $work/other $1 replicated
        echo 0 > /proc/sys/kernel/numa_balancing
        grep -q '^FAILED' $work/other || cp $work/base $work/other
        ;;
    esac
}

# outcome: of $work/base and $work/other
outcome() {
    if cmp -s $work/base $work/other && ! grep -q '^FAILED' $work/other; then echo same
    elif grep -q '^\(WRONG\|FAILED\)' $work/base $work/other; then echo contents
    elif [ $steady = 0 ]; then echo disturbed
    else
        grep -v '^bits' $work/base > $work/base-entries
        grep -v '^bits' $work/other | cmp -s - $work/base-entries && echo bits || echo entries
    fi
}

# shrink MODE: the fewest operations that show a difference
shrink() {
    diff $work/base $work/other | head -n 12
    low=0 high=$operations
    while [ $((high - low)) -gt 1 ]; do
        middle=$(((low + high) / 2))
        live $work/base $middle plain
        pair $middle $1
        case $(outcome) in same | disturbed) low=$middle ;; *) high=$middle ;; esac
    done
    live $work/base $high plain
    pair $high $1
    echo "reproduce: lives $seed $high $1: $(outcome)"
    diff $work/base $work/other | head -n 12
}

prepare
[ -e $policy ] && echo 1 > $policy || modes=
begin=$(cut -d. -f1 /proc/uptime)
while [ $(($(cut -d. -f1 /proc/uptime) - begin)) -lt $seconds ]; do
    check=/sys/kernel/debug/pgtable_replication/check
    [ ! -e $check ] || echo $((seed % 2)) > $check
    live $work/plain $operations plain
    calm=$?
    lost=same
    grep -q '^FAILED' $work/plain && lost=contents && bad=$((bad + 1)) && tail -n 3 $work/plain
    [ $calm = 0 ] && word= || word=" unsteady"
    echo "life $seed plain $lost $(awk '/^end of seed/ { print $5 + $10 }' $work/plain)$word"
    gzip -c $work/plain >> /out/plain.gz
    for mode in $modes; do
        # Unless modes were named, three of them take turns, one for each seed: so there are more seeds.
        [ $# -gt 0 ] || case $mode$((seed % 3)) in
            again[12] | policy[02] | balancing[01]) continue ;;
        esac
        cp $work/plain $work/base
        pair $operations $mode
        found=$(outcome)
        echo "life $seed $mode $found $(awk '/^end of seed/ { print $5 + $10 }' $work/other)"
        case $found in same | disturbed) continue ;; esac
        bad=$((bad + 1))
        [ $bad -gt 3 ] || shrink $mode
    done
    [ $bad -lt 10 ] || break
    seed=$((seed + 1))
done
kill $holder
wait $holder 2> /dev/null
echo 0 > /proc/sys/vm/nr_hugepages
[ $bad = 0 ]
