/* pins_rings KIND: memory of the program that the kernel itself works in lies in a huge page, another part of which
 * gets a guard page. Not only data are pinned, but also what the kernel looks up.
 *   buffers: a ring of provided buffers   own: an io_uring in memory of the program   hidden: the same, without a
 *   descriptor of its own, so that no file of /proc shows it */
#include "ring.h"

struct buffer_ring { /* struct io_uring_buf_reg of Linux 5.19 */
    uint64_t address;
    uint32_t entries;
    uint16_t group, flags;
    uint64_t reserved[3];
};
struct buffer_entry { /* struct io_uring_buf; the tail of the ring lies in the first one */
    uint64_t address;
    uint32_t bytes;
    uint16_t id, tail;
};
enum { REGISTER_BUFFER_RING = 22 };

static void provided_buffers(char* block) {
    struct ring ring;
    ring_open(&ring);
    struct buffer_entry* entries = (struct buffer_entry*)(block + 32 * PAGE);
    memset(entries, 0, PAGE);
    struct buffer_ring wish = {.address = (uint64_t)entries, .entries = 8, .group = 3};
    if (syscall(SYS_io_uring_register, ring.fd, REGISTER_BUFFER_RING, &wish, 1) != 0) {
        puts("skip");
        exit(77);
    }
    REQUIRE(mprotect(block, PAGE, PROT_NONE) == 0);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    char* buffer = block + 64 * PAGE;
    for (unsigned round = 0; round < 8; ++round) {
        struct buffer_entry* entry = &entries[round & 7];
        entry->address = (uint64_t)buffer;
        entry->bytes = PAGE;
        entry->id = (uint16_t)round;
        __atomic_store_n(&entries[0].tail, (uint16_t)(round + 1), __ATOMIC_RELEASE);
        char text[512];
        fill(text, sizeof text, 0, round);
        REQUIRE(write(ends[1], text, sizeof text) == sizeof text);
        const struct io_uring_sqe request = {.opcode = IORING_OP_READ, .fd = ends[0], .len = sizeof text,
                                             .flags = IOSQE_BUFFER_SELECT, .buf_group = 3, .user_data = round + 1};
        unsigned flags = 0;
        const int got = ring_do(&ring, &request, &flags);
        if (got != sizeof text) dprintf(2, "round %u: result %d\n", round, got);
        REQUIRE(got == sizeof text && flags >> 16 == round);
        require_content("provided buffer", buffer, sizeof text, 0, round);
    }
}

static void ring_in_own_memory(char* block, int hidden) {
    struct ring ring = {.params = {.flags = SETUP_NO_MMAP | (hidden ? SETUP_REGISTERED_FD_ONLY : 0)}};
    char *rings = block + 32 * PAGE, *sqes = block + 40 * PAGE;
    memset(rings, 0, 2 * PAGE);
    memset(sqes, 0, 2 * PAGE);
    ring.params.cq_off.resv2 = (uint64_t)rings; /* named user_addr since Linux 6.5 */
    ring.params.sq_off.resv2 = (uint64_t)sqes;
    ring.fd = (int)syscall(SYS_io_uring_setup, 8, &ring.params);
    if (ring.fd < 0 && (errno == EINVAL || errno == ENOSYS || errno == EPERM)) {
        puts("skip");
        exit(77);
    }
    REQUIRE(ring.fd >= 0);
    if (hidden) ring.enter = ENTER_REGISTERED_RING;
    ring.sq = ring.cq = rings;
    ring.sqes = (struct io_uring_sqe*)sqes;
    REQUIRE(mprotect(block, PAGE, PROT_NONE) == 0);
    for (unsigned round = 0; round < 20; ++round) {
        const struct io_uring_sqe request = {.opcode = IORING_OP_NOP, .user_data = round + 1};
        REQUIRE(ring_do(&ring, &request, NULL) == 0);
    }
}

int main(int count, char** words) {
    REQUIRE(count == 2);
    watch(20);
    char* block = huge_blocks(1);
    if (strcmp(words[1], "buffers") == 0) provided_buffers(block);
    else ring_in_own_memory(block, strcmp(words[1], "hidden") == 0);
    puts("right");
    return 0;
}
