#!/bin/bash
# usage: no_network.sh FOLDER COMMAND...
# Runs COMMAND as root in a network namespace without a network, with a Docker engine of its own there that has no
# image. The engine's files are in FOLDER, which has a short path because sockets' names are limited to 107 bytes.
set -euo pipefail
if [[ ${1-} != --inside ]]; then
    exec unshare --net -- "$0" --inside "$@"
fi
shift
folder=$1; shift
ip link set lo up  # notebooks and servers connect to this machine
[[ $(grep -c : /proc/net/dev) == 1 ]] || { echo "no_network.sh: more than lo in /proc/net/dev" >&2; exit 2; }

export DOCKER_HOST=unix://$folder/docker.sock
dockerd --host "$DOCKER_HOST" --data-root "$folder/data" --exec-root "$folder/exec" --pidfile "$folder/docker.pid" \
    --bridge none --iptables=false --ip6tables=false > "$folder/dockerd.log" 2>&1 &
engine=$!
stop() { kill "$engine" && wait "$engine" || true; }
trap stop EXIT
until docker version > /dev/null 2>&1; do
    kill -0 "$engine" || { tail -5 "$folder/dockerd.log" >&2; exit 2; }
    sleep 0.2
done
[[ -z $(docker images --quiet) ]] || { echo "no_network.sh: the engine has images" >&2; exit 2; }
"$@"
