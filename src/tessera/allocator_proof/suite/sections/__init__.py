"""The tables of the proof, one file each; :mod:`tessera.allocator_proof.suite.registry` gives their order."""
