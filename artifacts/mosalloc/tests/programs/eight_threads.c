/* eight_threads [SEED]: a program that does not depend on page sizes and inspects its own memory.
 *
 * Eight threads malloc, realloc, mmap, mremap and fork; each child verifies what it inherited, changes its copy and
 * answers with a hash. stdout: one hash of all contents, which depends on the seed only, so that it is the same on
 * the bare kernel and under any mosaic. stderr: halfway and at the end, from /proc/self/smaps, one line
 * `when start end KernelPageSize MMUPageSize` (addresses in hex, sizes in bytes) for each mapping of the program's
 * own memory: without a file, or huge. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, SLOTS = 40, ROUNDS = 1200, PAGE = 4096, FORK_EVERY = 400 };

#define REQUIRE(condition)                                                                  \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "eight_threads:%d: does not hold: %s\n", __LINE__, #condition); \
            _exit(1);                                                                       \
        }                                                                                   \
    } while (0)

struct slot {
    unsigned char* at;
    size_t bytes;
    uint64_t seed; /* says what the contents must be */
    int mapped;    /* by mmap, not by malloc */
};

struct worker {
    uint64_t random, hash;
    struct slot slots[SLOTS];
};

static struct worker g_workers[THREADS];
static pthread_barrier_t g_barrier;

static uint64_t next(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 29;
}

static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3u; }

/* Contents are a function of seed and position: every 64th byte and the last. */
static unsigned char expected(uint64_t seed, size_t at) { return (unsigned char)(1 + (seed + at * 31) % 251); }

static void fill(struct slot* s, size_t from, uint64_t seed) {
    for (size_t i = from; i < s->bytes; i += 64) s->at[i] = expected(seed, i);
    s->at[s->bytes - 1] = expected(seed, s->bytes - 1);
}

static uint64_t verify(const struct slot* s, size_t bytes) {
    uint64_t hash = bytes;
    for (size_t i = 0; i < bytes; i += 64) {
        REQUIRE(s->at[i] == expected(s->seed, i));
        hash = mix(hash, s->at[i]);
    }
    return hash;
}

static void drop(struct worker* w, struct slot* s) {
    if (s->at == NULL) return;
    w->hash = mix(w->hash, verify(s, s->bytes));
    if (s->mapped) REQUIRE(munmap(s->at, s->bytes) == 0);
    else free(s->at);
    s->at = NULL;
}

static void take(struct worker* w, struct slot* s) {
    const uint64_t kind = next(&w->random) % 6;
    s->mapped = kind < 2;
    s->seed = next(&w->random);
    if (s->mapped) {
        s->bytes = (1 + next(&w->random) % 64) * PAGE;
        s->at = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(s->at != MAP_FAILED);
        for (size_t i = 0; i < s->bytes; i += 512) REQUIRE(s->at[i] == 0);
    } else {
        s->bytes = 1 + next(&w->random) % (kind == 2 ? 400000 : 6000);
        s->at = kind == 3 ? calloc(1, s->bytes) : malloc(s->bytes);
        REQUIRE(s->at != NULL);
        for (size_t i = 0; kind == 3 && i < s->bytes; ++i) REQUIRE(s->at[i] == 0);
    }
    fill(s, 0, s->seed);
}

/* realloc or mremap to another size: what fits stays, the rest of a mapping is zero. */
static void resize(struct worker* w, struct slot* s) {
    const size_t old = s->bytes;
    s->bytes = s->mapped ? (1 + next(&w->random) % 64) * PAGE : 1 + next(&w->random) % 300000;
    const size_t kept = old < s->bytes ? old : s->bytes;
    s->at = s->mapped ? mremap(s->at, old, s->bytes, MREMAP_MAYMOVE) : realloc(s->at, s->bytes);
    REQUIRE(s->at != NULL && s->at != MAP_FAILED);
    w->hash = mix(w->hash, verify(s, kept));
    for (size_t i = kept; s->mapped && i < s->bytes; i += 512) REQUIRE(s->at[i] == 0);
    s->seed = next(&w->random);
    fill(s, 0, s->seed);
}

static uint64_t all_slots(const struct worker* w) {
    uint64_t hash = 1;
    for (int i = 0; i < SLOTS; ++i)
        if (w->slots[i].at != NULL) hash = mix(hash, verify(&w->slots[i], w->slots[i].bytes));
    return hash;
}

/* Changes a few pages only: under huge pages the system needs a free one for each that a child writes to. */
static uint64_t child(struct worker* w) {
    uint64_t hash = all_slots(w);
    int changed = 0;
    for (int i = 0; i < SLOTS && changed < 2; ++i) {
        struct slot* s = &w->slots[i];
        if (s->at == NULL) continue;
        fill(s, 0, s->seed ^= 77);
        hash = mix(hash, verify(s, s->bytes));
        ++changed;
    }
    struct slot fresh = {0};
    take(w, &fresh);
    drop(w, &fresh);
    return mix(hash, w->hash);
}

static void fork_and_check(struct worker* w) {
    int ends[2];
    uint64_t answer = 0;
    const uint64_t before = all_slots(w);
    REQUIRE(pipe(ends) == 0);
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        answer = child(w);
        _exit(write(ends[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
    }
    close(ends[1]);
    REQUIRE(read(ends[0], &answer, sizeof answer) == sizeof answer);
    close(ends[0]);
    int status = -1;
    REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
    REQUIRE(all_slots(w) == before);
    w->hash = mix(w->hash, answer);
}

static void print_pages(const char* when) {
    FILE* file = fopen("/proc/self/smaps", "r");
    REQUIRE(file != NULL);
    char line[512];
    uint64_t start = 0, end = 0, kilobytes, kernel = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char rights[8] = "", name[256] = "";
        uint64_t from, to;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %255[^\n]", &from, &to, rights, name) >= 3) {
            const int own =
                name[0] == 0 || strstr(name, "[heap]") != NULL || strstr(name, "hugepage") != NULL || strstr(name, "[anon") != NULL;
            start = own ? from : 0;
            end = to;
        } else if (sscanf(line, "KernelPageSize: %" SCNu64, &kilobytes) == 1) {
            kernel = kilobytes << 10;
        } else if (start != 0 && sscanf(line, "MMUPageSize: %" SCNu64, &kilobytes) == 1) {
            fprintf(stderr, "%s %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", when, start, end, kernel, kilobytes << 10);
        }
    }
    fclose(file);
}

static void* work(void* argument) {
    struct worker* w = argument;
    for (int round = 0; round < ROUNDS; ++round) {
        if (round == ROUNDS / 2) {
            pthread_barrier_wait(&g_barrier);
            if (w == g_workers) print_pages("halfway");
            pthread_barrier_wait(&g_barrier);
        }
        struct slot* s = &w->slots[next(&w->random) % SLOTS];
        if (s->at != NULL && next(&w->random) % 3 == 0) {
            resize(w, s);
        } else {
            drop(w, s);
            take(w, s);
        }
        if (round % FORK_EVERY == FORK_EVERY / 2 + 10 * (int)(w - g_workers)) fork_and_check(w);
    }
    w->hash = mix(w->hash, all_slots(w));
    return NULL;
}

int main(int count, char** words) {
    const uint64_t seed = count > 1 ? strtoull(words[1], NULL, 10) : 1;
    pthread_t ids[THREADS];
    REQUIRE(pthread_barrier_init(&g_barrier, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; ++i) g_workers[i].random = seed * 1000 + (uint64_t)i;
    for (int i = 1; i < THREADS; ++i) REQUIRE(pthread_create(&ids[i], NULL, work, &g_workers[i]) == 0);
    work(&g_workers[0]);
    uint64_t hash = 0;
    for (int i = 0; i < THREADS; ++i) {
        if (i > 0) pthread_join(ids[i], NULL);
        hash = mix(hash, g_workers[i].hash);
    }
    print_pages("end");
    printf("%016" PRIx64 "\n", hash);
    return 0;
}
