# For `tessera lab kernel boot`: a process with page-table replicas on all nodes, and where its tables lie.
uname -r
echo 1 > /proc/sys/vm/pgtable_replication
pgtblrepl --pgtblerepl=all -- firsttouch 16 one 20 &
sleep 5
grep -i repl /proc/$!/status
pagetable-dump $! | tee /out/dump
kill $!
