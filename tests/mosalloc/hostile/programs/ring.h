/* A small io_uring without a library: one request at a time. */
#pragma once
#include <linux/io_uring.h>
#include <sys/uio.h>

#include "hostile.h"

enum { ENTER_REGISTERED_RING = 1 << 4, REGISTER_RING_FDS = 20, SETUP_NO_MMAP = 1 << 14, SETUP_REGISTERED_FD_ONLY = 1 << 15 };

struct ring {
    int fd;         /* or the number of the registered ring */
    unsigned enter; /* flags of io_uring_enter */
    char *sq, *cq;
    size_t sq_bytes, cq_bytes, sqe_bytes;
    struct io_uring_sqe* sqes;
    struct io_uring_params params;
};

static inline void ring_open(struct ring* ring) {
    memset(ring, 0, sizeof *ring);
    struct io_uring_params* p = &ring->params;
    ring->fd = (int)syscall(SYS_io_uring_setup, 8, p);
    if (ring->fd < 0 && (errno == ENOSYS || errno == EPERM)) {
        puts("skip");
        exit(77);
    }
    REQUIRE(ring->fd >= 0);
    ring->sq_bytes = p->sq_off.array + p->sq_entries * sizeof(unsigned);
    ring->cq_bytes = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
    ring->sqe_bytes = p->sq_entries * sizeof(struct io_uring_sqe);
    const int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
    ring->sq = mmap(NULL, ring->sq_bytes, prot, flags, ring->fd, IORING_OFF_SQ_RING);
    ring->cq = mmap(NULL, ring->cq_bytes, prot, flags, ring->fd, IORING_OFF_CQ_RING);
    ring->sqes = mmap(NULL, ring->sqe_bytes, prot, flags, ring->fd, IORING_OFF_SQES);
    REQUIRE(ring->sq != MAP_FAILED && ring->cq != MAP_FAILED && (void*)ring->sqes != MAP_FAILED);
}

static inline void ring_register(struct ring* ring, char* buffer, size_t bytes) {
    struct iovec part = {buffer, bytes};
    REQUIRE(syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_BUFFERS, &part, 1) == 0);
}

/* Only the mappings, and the kernel's table for this thread, keep the ring from now on. */
static inline void ring_close_descriptor(struct ring* ring) {
    struct io_uring_rsrc_update update = {.offset = -1U, .data = (uint64_t)ring->fd};
    REQUIRE(syscall(SYS_io_uring_register, ring->fd, REGISTER_RING_FDS, &update, 1) == 1);
    REQUIRE(close(ring->fd) == 0);
    ring->fd = (int)update.offset;
    ring->enter = ENTER_REGISTERED_RING;
}

/* One request; returns its result, or -ETIME if the kernel did not see it or the answer did not arrive. */
static inline int ring_do(struct ring* ring, const struct io_uring_sqe* request, unsigned* flags) {
    const struct io_uring_params* p = &ring->params;
    unsigned* tail = (unsigned*)(ring->sq + p->sq_off.tail);
    const unsigned mask = *(unsigned*)(ring->sq + p->sq_off.ring_mask), at = *tail & mask;
    ring->sqes[at] = *request;
    ((unsigned*)(ring->sq + p->sq_off.array))[at] = at;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    const long done = syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS | ring->enter, NULL, 0);
    if (done != 1) return -ETIME;
    unsigned* head = (unsigned*)(ring->cq + p->cq_off.head);
    if (__atomic_load_n((unsigned*)(ring->cq + p->cq_off.tail), __ATOMIC_ACQUIRE) == *head) return -ETIME;
    const unsigned cq_mask = *(unsigned*)(ring->cq + p->cq_off.ring_mask);
    const struct io_uring_cqe* answer = &((struct io_uring_cqe*)(ring->cq + p->cq_off.cqes))[*head & cq_mask];
    REQUIRE(answer->user_data == request->user_data);
    const int result = answer->res;
    if (flags != NULL) *flags = answer->flags;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return result;
}

static inline int ring_fixed(struct ring* ring, int opcode, int file, char* buffer, size_t bytes) {
    static uint64_t number;
    const struct io_uring_sqe request = {.opcode = (uint8_t)opcode,
                                         .fd = file,
                                         .addr = (uint64_t)buffer,
                                         .len = (uint32_t)bytes,
                                         .user_data = ++number};
    return ring_do(ring, &request, NULL);
}

static inline void ring_unmap(struct ring* ring) {
    REQUIRE(munmap(ring->sq, ring->sq_bytes) == 0 && munmap(ring->cq, ring->cq_bytes) == 0);
    REQUIRE(munmap(ring->sqes, ring->sqe_bytes) == 0);
}
