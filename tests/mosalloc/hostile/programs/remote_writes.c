/* remote_writes HOW PAGES: a child writes 1MB of known contents into each huge page of its parent, again and again, and
 * looks each time whether they have arrived; the parent gives other parts of these pages guard pages meanwhile.
 * A write that is rejected (EIO while the page is exchanged) is made again; one that succeeds must not be lost.
 *   HOW: writev (process_vm_writev), mem (/proc/PID/mem), poke (PTRACE_POKEDATA into one thread that is stopped) */
#include "hostile.h"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

static char* g_block;
static size_t g_pages;
static volatile int* g_sync; /* shared: [0] page to write to, [1] rounds done, [2] end, [3] thread to poke */

static void write_there(const char* how, pid_t parent, int memory, char* from, char* to) {
    if (strcmp(how, "writev") == 0) {
        const struct iovec here = {from, MB}, there = {to, MB};
        REQUIRE(process_vm_writev(parent, &here, 1, &there, 1, 0) == MB);
    } else if (strcmp(how, "mem") == 0) {
        for (size_t at = 0; at < MB;) {
            const ssize_t got = pwrite(memory, from + at, MB - at, (off_t)(uintptr_t)(to + at));
            REQUIRE(got > 0 || errno == EIO);
            at += got > 0 ? (size_t)got : 0;
        }
    } else {
        for (size_t i = 0; i < MB; i += 512) {
            long word;
            memcpy(&word, from + i, sizeof word);
            while (ptrace(PTRACE_POKEDATA, g_sync[3], to + i, word) != 0) REQUIRE(errno == EIO);
        }
    }
}

static void child(const char* how, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int poke = strcmp(how, "poke") == 0;
    char name[64], *from = malloc(MB), *seen = malloc(MB);
    snprintf(name, sizeof name, "/proc/%d/mem", parent);
    const int memory = open(name, O_RDWR);
    REQUIRE(from != NULL && seen != NULL && memory >= 0);
    if (poke) {
        while (g_sync[3] == 0) usleep(100);
        REQUIRE(ptrace(PTRACE_SEIZE, g_sync[3], 0, 0) == 0 && ptrace(PTRACE_INTERRUPT, g_sync[3], 0, 0) == 0);
        REQUIRE(waitpid(g_sync[3], NULL, __WALL) == g_sync[3]);
    }
    for (unsigned round = 1; !g_sync[2]; ++round) {
        char* to = g_block + (size_t)g_sync[0] * HUGE;
        fill(from, MB, 0, round);
        write_there(how, parent, memory, from, to);
        const struct iovec here = {seen, MB}, there = {to, MB};
        REQUIRE(process_vm_readv(parent, &here, 1, &there, 1, 0) == MB);
        for (size_t i = 0; i < MB; i += poke ? 512 : 1) {
            if (seen[i] == from[i]) continue;
            dprintf(2, "round %u: byte %zu of a write was lost\n", round, i);
            _exit(1);
        }
        ++g_sync[1];
    }
    if (poke) ptrace(PTRACE_DETACH, g_sync[3], 0, 0);
    _exit(0);
}

static void* be_poked(void* unused) {
    g_sync[3] = (int)syscall(SYS_gettid);
    while (!g_sync[2]) usleep(1000);
    return unused;
}

int main(int count, char** words) {
    REQUIRE(count == 3);
    watch(60);
    g_pages = strtoul(words[2], NULL, 10);
    g_sync = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE((void*)g_sync != MAP_FAILED);
    g_block = huge_blocks(g_pages);
    const pid_t self = getpid(), writer = fork();
    REQUIRE(writer >= 0);
    if (writer == 0) child(words[1], self);
    prctl(PR_SET_PTRACER, writer, 0, 0, 0); /* where only an ancestor may trace */
    pthread_t id;
    REQUIRE(pthread_create(&id, NULL, be_poked, NULL) == 0);
    unsigned random = 7;
    for (size_t page = 0; page < g_pages; ++page) {
        const int before = g_sync[1];
        g_sync[0] = (int)page;
        int status = 0;
        while (g_sync[1] < before + 2) {
            REQUIRE(waitpid(writer, &status, WNOHANG) == 0);
            usleep(50);
        }
        usleep(next_random(&random) % 5000);
        REQUIRE(mprotect(g_block + page * HUGE + MB, PAGE, PROT_NONE) == 0);
    }
    const int before = g_sync[1];
    int status = 0;
    while (g_sync[1] < before + 2 && waitpid(writer, &status, WNOHANG) == 0) usleep(50);
    g_sync[2] = 1;
    if (status == 0) REQUIRE(waitpid(writer, &status, 0) == writer);
    REQUIRE(status == 0 && pthread_join(id, NULL) == 0);
    puts("right");
    return 0;
}
