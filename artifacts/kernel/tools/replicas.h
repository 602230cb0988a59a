/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The library call of Listing 2 in the Mitosis paper, for programs that choose the
 * nodes of their page tables themselves. Header only; depends only on libc.
 */
#ifndef TESSERA_REPLICAS_H
#define TESSERA_REPLICAS_H

#include <sys/prctl.h>

#ifndef PR_SET_PGTABLE_REPLICAS
#define PR_SET_PGTABLE_REPLICAS 0x50475201
#define PR_GET_PGTABLE_REPLICAS 0x50475202
#endif

/* Nodes 0..63 fit in one word; prctl accepts longer masks too. */
#define REPLICAS_MAX_NODES 64

/*
 * Keeps a copy of this process's page tables on each node of the mask (bit n =
 * node n); 0 frees all copies. fork and exec inherit the mask.
 * Returns 0, or -1 with errno: EINVAL (unpatched kernel, or unknown node),
 * EOPNOTSUPP (vm.pgtable_replication is neither 1 nor 3), ENODEV (node without
 * memory), EPERM (not in this process's cpuset), ENOMEM.
 */
static inline int numa_set_pgtable_replication_mask(unsigned long nodes)
{
	return prctl(PR_SET_PGTABLE_REPLICAS, &nodes, REPLICAS_MAX_NODES, 0, 0);
}

/* The mask of this process, or -1 with errno (EINVAL: unpatched kernel). */
static inline int numa_get_pgtable_replication_mask(unsigned long *nodes)
{
	return prctl(PR_GET_PGTABLE_REPLICAS, nodes, REPLICAS_MAX_NODES, 0, 0);
}

#endif
