"""Linux 6.12 in a guest as the oracle of the imitation's decisions (docs/results/os-oracle.md).

`snakemake os_oracle` builds the kernel of variant `oracle` (10 to 20 min the first time), runs it, and makes the recording of
`tests/oracle/recording` again. It fails if less than 99.9% of the decisions are equal. No other target needs it."""

ORACLE_RECORDING = Path("tests/oracle/recording")


rule os_oracle:
    """Record the guest's decisions and compare them with the imitation's."""
    input: images,
    log: KERNEL / "logs" / "os-oracle.log",
    params: folder=ORACLE_RECORDING, table=KERNEL / "logs" / "os-oracle.csv",
    resources: mem_mb=4000, kernel_guests=1
    message: "Comparing the imitation of memory management with Linux 6.12"
    shell:
        "(tessera dev build imitation && tessera lab oracle record --accept-series --out {params.folder:q}"
        " && tessera lab run oracle-compare recording={params.folder:q} --out {params.table:q}) 2>&1 | tee {log}"
