#!/bin/busybox sh
# The system-wide policies, and replicas on a node that has no memory left; after the selftests, as root in the guest.
number=0
result() { # status, name
    number=$((number + 1))
    [ "$1" = 0 ] && echo "ok $number - $2" || { echo "not ok $number - $2"; failed=1; }
}
failed=0
# The policy cannot change while old address spaces are in use. Idle processors keep the last address space that they
# ran, so each processor runs another program. khugepaged keeps the ones that it plans to scan, so this waits for it.
set_policy() {
    tries=0
    until echo "$1" > /proc/sys/vm/pgtable_replication 2> /dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 60 ] || { echo "# the policy stays $(cat /proc/sys/vm/pgtable_replication), wanted $1"; return 1; }
        for cpu in $(seq 0 $(($(nproc) - 1))); do taskset -c "$cpu" true; done
        sleep 0.2
    done
}
set_policy 1

# Policy 2: all tables on the node, none elsewhere, no replicas.
echo 2 > /proc/sys/vm/pgtable_node && set_policy 2
firsttouch 16 blocks 100 > /dev/null &
sleep 3
pagetable-dump $! | awk 'NR > 1 { rows++; if ($3 != 2 || $1 != "home") bad = 1 } END { exit bad || rows != 4 }'
result $? "tables fixed on one node"
kill $!; wait $! 2> /dev/null
! pgtblrepl -r all true 2> /out/refused; result $? "no replicas while tables are fixed"
grep -q 'sysctl vm.pgtable_replication=1' /out/refused; result $? "the error names the remedy"

# Policy 3: every new process.
set_policy 3
sh -c 'grep -q "PTEReplNodes:.0-3" /proc/self/status'; result $? "every new process has replicas"
set_policy 1
sh -c '! grep -q VmPTERepl /proc/self/status'; result $? "and none after the policy has changed"

# Bad input of the tool.
pgtblrepl -r 0-9 true 2> /out/refused; [ $? = 2 ] && grep -q 'nodes with memory and processors are 0-3' /out/refused
result $? "unknown node"
pgtblrepl -r 0,x true 2> /out/refused; [ $? = 2 ]; result $? "not a list"

# No permission: a cpuset that lacks node 3.
mkdir -p /mnt/cgroup
[ -e /mnt/cgroup/cgroup.procs ] || mount -t cgroup2 none /mnt/cgroup
echo +cpuset > /mnt/cgroup/cgroup.subtree_control
mkdir /mnt/cgroup/small && echo 0-2 > /mnt/cgroup/small/cpuset.mems
sh -c 'echo $$ > /mnt/cgroup/small/cgroup.procs && exec pgtblrepl -r 0-3 true' 2> /out/refused
[ $? = 2 ] && grep -q 'may not use' /out/refused; result $? "a node that the cpuset forbids"
sh -c 'echo $$ > /mnt/cgroup/small/cgroup.procs && exec pgtblrepl -r 0-2 true'; result $? "nodes that it allows"
set_policy 3
sh -c 'echo $$ > /mnt/cgroup/small/cgroup.procs && exec grep -q "PTEReplNodes:.0-2$" /proc/self/status'
result $? "every new process has replicas on the nodes that its cpuset allows"
set_policy 1

# A node with 12 MB of free memory, 2 of them in reserve, and 4000 replicas: about 1440 are missing, and the process goes
# on. With a cache of 1024 pages, 1024 fewer are missing. The processors' lists of free pages would blur this, so they
# are kept short.
echo 0 > /sys/kernel/debug/pgtable_replication/check # of 4000 tables after each system call takes long
swapoff /dev/ram0
reserve=$(cat /proc/sys/vm/min_free_kbytes)
echo 8000 > /proc/sys/vm/min_free_kbytes # 2 MB a node; khugepaged asks for 22
boost=$(cat /proc/sys/vm/watermark_boost_factor)
echo 0 > /proc/sys/vm/watermark_boost_factor # or fragmentation takes another 4 MB
echo 1000000 > /proc/sys/vm/percpu_pagelist_high_fraction
count() { # NODE TABLES: run pressure; "missing" and "again" are what it counts
    pressure "$1" "$2" > /out/pressure
    missing=$(awk '$1 == "missing" { print $2 }' /out/pressure)
    again=$(awk '$1 == "again" { print $2 }' /out/pressure)
}
count 3 4000
without=$missing
[ "${without:-0}" -gt 1000 ]; result $? "full node, empty cache: $without replicas missing"
[ "$again" = 0 ]; result $? "repeated when the node has memory again: ${again:-?} missing"
echo 1024 > /proc/sys/vm/pgtable_replica_cache
count 3 4000
[ -n "$missing" ] && [ "$missing" -le $((without - 768)) ]
result $? "full node, 1024 cached pages: $missing replicas missing"
# A process that has replicas since its start takes all home tables from the node where it started, and has no other
# table there: the cache serves it all the same.
echo 0 > /proc/sys/vm/pgtable_replica_cache
echo 1024 > /proc/sys/vm/pgtable_replica_cache # full again: the process before took what it held
taskset -c 3 pgtblrepl -r all pressure 3 4000 > /out/pressure
missing=$(awk '$1 == "missing" { print $2 }' /out/pressure)
[ -n "$missing" ] && [ "$missing" -le $((without - 768)) ]
result $? "full node of the home tables, 1024 cached pages: $missing tables missing"
echo 0 > /proc/sys/vm/pgtable_replica_cache
echo 1 > /sys/kernel/debug/pgtable_replication/check
echo "$reserve" > /proc/sys/vm/min_free_kbytes
echo "$boost" > /proc/sys/vm/watermark_boost_factor
echo 0 > /proc/sys/vm/percpu_pagelist_high_fraction
echo "1..$number"
exit $failed
