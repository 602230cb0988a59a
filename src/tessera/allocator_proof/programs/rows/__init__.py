"""The programs, one file each; :mod:`tessera.allocator_proof.programs.registry` registers them."""
