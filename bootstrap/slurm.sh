# Sourced by ./run --slurm: Snakemake's plugin for Slurm, and the commands of Slurm. Nothing of Slurm is installed.
# Uses root, state, venv, verb, say, fail.

# Replaces the options of a run on this machine: `--cores` would limit all nodes together to the cores of this one.
ensure_slurm() {
    ensure_slurm_plugin
    if [[ $verb == setup ]]; then return; fi  # needs no cluster: tests start one of their own
    local command
    for command in sbatch squeue srun scancel; do
        command -v "$command" > /dev/null ||
            fail "./run --slurm" "this machine has no command $command" \
                "start it on a machine that submits to your cluster, or without --slurm"
    done
    local answer
    answer=$(timeout 30 squeue --noheader --me 2>&1 > /dev/null) ||
        fail "./run --slurm" "squeue gets no answer from Slurm's controller: $answer" \
            "sinfo shows the state of the cluster; ask those who run it"
    snakemake_options=(--workflow-profile "$root/profiles/slurm")
    # Without a data base of jobs, sacct knows nothing, and there are no accounts to name.
    if ! timeout 30 sacct --noheader > /dev/null 2>&1; then
        snakemake_options+=(--slurm-no-account --slurm-status-command squeue)
    fi
}

# The plugin has a lock of its own, because requirements.lock counts in the digests of computed steps.
ensure_slurm_plugin() {
    local stamp; stamp=$(sha256sum < "$root/requirements-slurm.lock")
    if [[ -e $state/slurm && $(< "$state/slurm") == "$stamp" && ! $state/environment -nt $state/slurm ]]; then return; fi
    say "adding Snakemake's plugin for Slurm to .venv"
    tell_uv_what_pip_knows
    "$venv/bin/uv" pip install --quiet --compile-bytecode --no-deps --require-hashes --python "$venv/bin/python" \
        --requirement "$root/requirements-slurm.lock" ||
        fail "installing requirements-slurm.lock" "uv failed (above)" "check the network and pip's settings"
    printf '%s\n' "$stamp" > "$state/slurm"
}
