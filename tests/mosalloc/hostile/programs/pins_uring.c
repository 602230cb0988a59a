/* pins_uring FILE ACT WHEN RING: 1MB of a huge page is a registered buffer; then another part of that page changes.
 * The buffer must still be the memory that the kernel reads to and writes from.
 *   ACT: guard, readonly, fork, file   WHEN: before or after the first guard page   RING: open, closed, thread */
#include "ring.h"

static struct ring g_ring;
static char* g_buffer;

static void* open_and_register(void* unused) {
    ring_open(&g_ring);
    ring_register(&g_ring, g_buffer, MB);
    return unused;
}

/* The child writes to all of its copy while the parent reads to its own. */
static pid_t fork_child(char* block, int* to_child) {
    int down[2], up[2];
    REQUIRE(pipe(down) == 0 && pipe(up) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        char word = 0;
        for (size_t i = 0; i < HUGE; ++i) REQUIRE(block[i] == 'x');
        memset(block, 'c', HUGE);
        REQUIRE(write(up[1], "1", 1) == 1 && read(down[0], &word, 1) == 1);
        for (size_t i = 0; i < HUGE; ++i) REQUIRE(block[i] == 'c');
        _exit(17);
    }
    char word = 0;
    close(up[1]);
    REQUIRE(read(up[0], &word, 1) == 1); /* 0 bytes: the child died */
    *to_child = down[1];
    return child;
}

int main(int count, char** words) {
    REQUIRE(count == 5);
    watch(30);
    const char *act = words[2], *when = words[3], *how = words[4];
    const int file = make_file(words[1], MB, 1, 0);
    char* block = huge_blocks(2);
    g_buffer = block + HUGE / 4;
    if (strcmp(when, "after") == 0) REQUIRE(mprotect(block + HUGE + MB, PAGE, PROT_NONE) == 0);
    if (strcmp(how, "thread") == 0) {
        pthread_t id;
        REQUIRE(pthread_create(&id, NULL, open_and_register, NULL) == 0 && pthread_join(id, NULL) == 0);
    } else {
        open_and_register(NULL);
    }
    if (strcmp(how, "closed") == 0) ring_close_descriptor(&g_ring);

    pid_t child = -1;
    int to_child = -1;
    char* other = block + 16 * PAGE;
    if (strcmp(act, "guard") == 0) REQUIRE(mprotect(other, PAGE, PROT_NONE) == 0);
    else if (strcmp(act, "readonly") == 0) REQUIRE(mprotect(other, PAGE, PROT_READ) == 0);
    else if (strcmp(act, "fork") == 0) child = fork_child(block, &to_child);
    else if (strcmp(act, "file") == 0) {
        char* at = mmap(other, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0);
        if (at == MAP_FAILED) { /* a refusal is a true answer; then nothing may have changed */
            REQUIRE(errno == EINVAL || errno == ENOMEM);
            for (size_t i = 0; i < PAGE; ++i) REQUIRE(other[i] == 'x');
            puts("refused");
        } else {
            REQUIRE(at == other);
            require_content("the file", at, PAGE, 0, 1);
        }
    } else REQUIRE(!"an act");

    REQUIRE(ring_fixed(&g_ring, IORING_OP_READ_FIXED, file, g_buffer, MB) == MB);
    require_content("read", g_buffer, MB, 0, 1);
    fill(g_buffer, MB, 0, 2);
    REQUIRE(ring_fixed(&g_ring, IORING_OP_WRITE_FIXED, file, g_buffer, MB) == MB);
    char* text = malloc(MB);
    REQUIRE(pread(file, text, MB, 0) == MB);
    require_content("written", text, MB, 0, 2);
    free(text);
    for (size_t i = 0; i < 16 * PAGE; ++i) REQUIRE(block[i] == 'x');
    for (size_t i = HUGE / 4 + MB; i < HUGE; ++i) REQUIRE(block[i] == 'x');
    if (child > 0) {
        int status = 0;
        REQUIRE(write(to_child, "2", 1) == 1);
        REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 17);
    }
    puts("right");
    return 0;
}
