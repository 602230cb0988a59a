# Sourced by ./run: checks that the chosen engine answers, and starts Docker if it can.
# Uses engine, state, say, fail.

engine_answers() {
    timeout 20 docker version --format '{{.Server.Version}}' > /dev/null 2>&1
}

ensure_engine() {
    if [[ $engine == apptainer ]]; then ensure_apptainer; return; fi
    engine_answers && return
    local remedy="start it, or use this machine's own compilers: ./run --engine none ..."
    # A dockerd that starts here would not answer there.
    [[ -z ${DOCKER_HOST:-} ]] || fail "engine 'docker'" "none answers at DOCKER_HOST=$DOCKER_HOST" "$remedy"
    ((EUID == 0)) ||
        fail "engine 'docker'" "no Docker engine answers this user" \
            "sudo systemctl start docker, and sudo adduser $(id -un) docker; or ./run --engine none ..."
    command -v dockerd > /dev/null || fail "engine 'docker'" "dockerd is not installed" "$remedy"
    if [[ -d /run/systemd/system ]]; then
        say "no docker engine answers: systemctl start docker"
        # The unit's own start has no time limit.
        timeout 120 systemctl start docker || fail "systemctl start docker" "it failed, or took more than 120 s" "$remedy"
    else
        say "no docker engine answers: starting dockerd (log: .tessera/dockerd.log); it keeps running"
        # Detached, and without the set-up lock that ./run holds as descriptor 9.
        setsid nohup dockerd > "$state/dockerd.log" 2>&1 < /dev/null 9>&- &
    fi
    local second
    for second in {1..60}; do
        engine_answers && return
        sleep 1
    done
    tail -5 "$state/dockerd.log" >&2 2> /dev/null || true
    fail "engine 'docker'" "it did not answer within 60 s" "$remedy"
}

# Clusters have their own way to install Apptainer, so nothing is installed here.
ensure_apptainer() {
    local answer
    command -v apptainer > /dev/null ||
        fail "engine 'apptainer'" "there is no command apptainer" \
            "module load apptainer, or ask those who run this machine; or another engine: docker, none"
    answer=$(apptainer version 2>&1) ||
        fail "engine 'apptainer'" "'apptainer version' failed: $answer" "mend this installation of Apptainer"
}
