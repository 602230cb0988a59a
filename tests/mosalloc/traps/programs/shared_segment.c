/* shared_segment BYTES: System V shared memory at an address of the program's choice: over its own memory (SHM_REMAP), and
 * where nothing is. After shmdt the place is free, and new memory there is private. Prints `clean`. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_WRITE = PROT_READ | PROT_WRITE, PLAIN = MAP_PRIVATE | MAP_ANONYMOUS };

/* Whether a write of a child at `at` is seen here. */
static int is_shared(char* at) {
    *at = 'p';
    const pid_t child = fork();
    if (child == 0) *at = 'c', _exit(0);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) exit(20);
    return *at == 'c';
}

static int is_zero(const char* at, size_t bytes) {
    for (size_t b = 0; b < bytes; ++b)
        if (at[b] != 0) return 0;
    return 1;
}

int main(int count, char** words) {
    const size_t bytes = count > 1 ? strtoull(words[1], NULL, 0) : 0;
    const int id = shmget(IPC_PRIVATE, bytes - 100, 0600);
    if (id < 0) return 1;
    char* at = mmap(NULL, 3 * bytes, READ_WRITE, PLAIN, -1, 0);
    if (at == MAP_FAILED) return 2;
    memset(at, 'x', 3 * bytes);
    char* place = at + bytes;
    if (shmat(id, place, 0) != (void*)-1 || errno != EINVAL) return 3; /* something is there */
    if (shmat(id, place + 1, SHM_REMAP) != (void*)-1 || errno != EINVAL) return 4;
    if (shmat(id, place + 1, SHM_REMAP | SHM_RND) != place) return puts("not attached"), 5;
    if (!is_zero(place, bytes) || !is_shared(place)) return puts("not shared"), 6;
    struct shmid_ds state;
    if (shmctl(id, IPC_STAT, &state) != 0 || state.shm_nattch != 1) return 7;
    if (shmdt(place) != 0 || (shmdt(place) == 0 || errno != EINVAL)) return 8;
    if (shmctl(id, IPC_STAT, &state) != 0 || state.shm_nattch != 0) return 9;
    if (at[bytes - 1] != 'x' || at[2 * bytes] != 'x') return 10;
    if (mmap(place, bytes, READ_WRITE, PLAIN | MAP_FIXED_NOREPLACE, -1, 0) != place) return puts("not free"), 11;
    if (!is_zero(place, bytes) || is_shared(place)) return puts("inherited"), 12;
    if (munmap(place, bytes) != 0) return 13;
    if (shmat(id, place, SHM_RDONLY) != place) return puts("not attached"), 14; /* nothing is there */
    if (*place != 'c') return 15;
    if (munmap(place, bytes) != 0) return 16; /* instead of shmdt */
    if (shmctl(id, IPC_STAT, &state) != 0 || state.shm_nattch != 0) return 17;
    if (mmap(place, bytes, READ_WRITE, PLAIN | MAP_FIXED_NOREPLACE, -1, 0) != place) return 18;
    if (!is_zero(place, bytes) || is_shared(place)) return puts("inherited"), 19;
    if (shmctl(id, IPC_RMID, NULL) != 0) return 20;
    puts("clean");
    return 0;
}
