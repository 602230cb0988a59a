#!/bin/sh
# run.sh PROGRAM KIND FOLDER: a tiny run has a line for each touch, and the kernel counted as many faults as the kind has.
set -eu
program=$1 kind=$2 folder=$3
out=$folder/$kind.csv
facts=$("$program" --kind "$kind" --out "$out" --size 4194304 --passes 2 --folder "$folder")
[ "$(wc -l < "$out")" = $((1 + 2 * 1024)) ] || { echo "lines: $(wc -l < "$out")"; exit 1; }
[ "$(head -n 1 "$out")" = "pass,touch,tsc_cycles" ]
[ "$(tail -n 1 "$out" | cut -d, -f1,2)" = "1,1023" ]
faults=$(echo "$facts" | sed 's/.*"minor_faults": \([0-9]*\).*/\1/')
case $kind in
    write-4kb | read-zero) [ "$faults" -ge 1024 ] && [ "$faults" -le 1032 ] ;;
    read-file) [ "$faults" -ge 1 ] && [ "$faults" -le 512 ] ;; # faults map cached pages around them
    touch-again) [ "$faults" -le 8 ] ;;
esac || { echo "$kind: $faults faults"; exit 1; }
