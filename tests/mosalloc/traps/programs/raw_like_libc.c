/* The functions ioctl, prctl and syscall do what libc's do: all arguments, results, errno of each thread, and a clone with a
 * stack of its own. Prints `same`. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void require(int good, int line) {
    if (!good) printf("line %d, errno %d\n", line, errno), fflush(stdout), _exit(1);
}
#define REQUIRE(what) require((what), __LINE__)

static void* fails(void* unused) {
    errno = 0;
    REQUIRE(syscall(SYS_close, -1L) == -1 && errno == EBADF);
    return unused;
}

/* libc's `syscall` returns into the child on the new stack, so the stack starts with the address of its first function. */
static char g_stack[65536] __attribute__((aligned(16)));
static volatile int g_ran;
static void on_new_stack(void) {
    const char* here = (const char*)__builtin_frame_address(0);
    g_ran = here > g_stack && here <= g_stack + sizeof g_stack ? 1 : 2;
    syscall(SYS_exit, 7L);
}

int main(void) {
    REQUIRE(syscall(SYS_getpid) == getpid());
    const long numbers[] = {-1, 511, 512, 512 << 10, 1 << 30};
    for (int i = 0; i < 5; ++i) {
        errno = 0;
        REQUIRE(syscall(numbers[i], 1L, 2L, 3L) == -1 && errno == ENOSYS);
    }
    errno = 3;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, fails, NULL) == 0 && pthread_join(thread, NULL) == 0 && errno == 3);

    char text[8] = "";
    const int fd = memfd_create("file", 0);
    REQUIRE(fd >= 0 && ftruncate(fd, 3 * 4096) == 0 && pwrite(fd, "third", 5, 8192) == 5);
    const long at = syscall(SYS_mmap, 0L, 4096L, (long)PROT_READ, (long)MAP_PRIVATE, (long)fd, 8192L); /* six arguments */
    REQUIRE(at > 0 && memcmp((char*)at, "third", 5) == 0 && syscall(SYS_munmap, at, 4096L) == 0);
    REQUIRE(syscall(SYS_pread64, (long)fd, text, 5L, 8192L) == 5 && strcmp(text, "third") == 0);

    uint64_t* top = (uint64_t*)(g_stack + sizeof g_stack - 256);
    *--top = (uint64_t)(uintptr_t)on_new_stack;
    const long child = syscall(SYS_clone, (long)(CLONE_VM | CLONE_FS | SIGCHLD), top, NULL, NULL, 0L);
    int status = 0;
    REQUIRE(child > 0 && waitpid((pid_t)child, &status, 0) == child);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 7 && g_ran == 1);
    REQUIRE(syscall(SYS_clone, (long)CLONE_SIGHAND, top, NULL, NULL, 0L) == -1 && errno == EINVAL);

    int ends[2], waiting = 0;
    REQUIRE(pipe(ends) == 0 && write(ends[1], "abc", 3) == 3);
    REQUIRE(ioctl(ends[0], FIONREAD, &waiting) == 0 && waiting == 3);
    REQUIRE(syscall(SYS_ioctl, (long)ends[0], (long)FIONREAD, &waiting) == 0 && waiting == 3);
    REQUIRE(ioctl(ends[0], FIONBIO, &(int){1}) == 0 && ioctl(ends[0], TIOCGWINSZ, text) == -1 && errno == ENOTTY);
    REQUIRE(ioctl(-1, FIONREAD, &waiting) == -1 && errno == EBADF);
    REQUIRE(ioctl(ends[0], 0xc020aa00, NULL) == -1 && errno == ENOTTY); /* UFFDIO_REGISTER of something else */

    char name[16] = "";
    REQUIRE(prctl(PR_SET_NAME, "renamed") == 0 && prctl(PR_GET_NAME, name) == 0 && strcmp(name, "renamed") == 0);
    REQUIRE(syscall(SYS_prctl, (long)PR_GET_NAME, name, 0L, 0L, 0L) == 0 && strcmp(name, "renamed") == 0);
    REQUIRE(prctl(PR_GET_DUMPABLE) == 1 && prctl(12345, 1L, 2L, 3L, 4L) == -1 && errno == EINVAL);
    REQUIRE(prctl(PR_SET_MM, 0L, 0L, 0L, 5L) == -1 && errno == EINVAL); /* the fifth argument must be 0 */

    unsigned long node = 1;
    REQUIRE(syscall(SYS_mbind, 4096L, 4096L, 2L, &node, 64L, 0L) == -1 && errno == EFAULT);
    REQUIRE(syscall(SYS_mbind, 1L, 4096L, 2L, &node, 64L, 0L) == -1 && errno == EINVAL);
    REQUIRE(syscall(SYS_madvise, 4096L, 4096L, (long)MADV_NORMAL) == -1 && errno == ENOMEM);
    REQUIRE(syscall(SYS_shmdt, 4096L) == -1 && errno == EINVAL);
    puts("same");
    return 0;
}
