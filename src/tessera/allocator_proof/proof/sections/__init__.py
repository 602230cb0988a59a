"""The tables of the proof, one file each; :mod:`tessera.allocator_proof.proof.registry` gives their order."""
