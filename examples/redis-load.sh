#!/bin/sh
# A load for redis-server: fill it with random keys, read fifty random keys at a time, then ask the server
# for the CPU time that it took. usage: redis-load.sh PORT KEYS WRITES READS
port=$1 keys=$2 writes=$3 reads=$4
set --
while [ $# -lt 50 ]; do set -- "$@" key:__rand_int__; done
redis-benchmark -p "$port" -q -c 4 -P 8 -r "$keys" -n "$writes" -d 100 -t mset || exit 1
redis-benchmark -p "$port" -q -c 4 -P 8 -r "$keys" -n "$reads" mget "$@" | sed 's/mget.*:/mget:/' || exit 1
redis-cli -p "$port" info cpu | tr -d '\r' |
    awk -F: '/^used_cpu_(user|sys):/ { sum += $2 } END { printf "server_cpu_seconds=%.3f\n", sum }'
