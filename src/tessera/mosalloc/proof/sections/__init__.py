"""The tables of the proof, one file each; :mod:`tessera.mosalloc.proof.registry` gives their order."""
