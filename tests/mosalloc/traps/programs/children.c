/* Forked children that end in several ways, each with a known number of calls. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS };

static char* block;

/* `count` mappings, unmapped again, one call that fails, one advice that is ignored: 2 * count + 2 calls. */
static void work(int count) {
    for (int i = 0; i < count; ++i) {
        char* at = mmap(NULL, 4 * PAGE, RW, PRIVATE, -1, 0);
        if (at == MAP_FAILED || munmap(at, 4 * PAGE) != 0) _exit(2);
    }
    if (mprotect(block, PAGE, 0x1000) == 0) _exit(3);
    if (madvise(block, PAGE, MADV_HUGEPAGE) != 0) _exit(4);
}

static void end(pid_t child, int status) {
    int found = 0;
    if (child < 0 || waitpid(child, &found, 0) != child || found != status) exit(5);
}

int main(int argc, char** argv) {
    block = mmap(NULL, PAGE, RW, PRIVATE, -1, 0);
    const char* how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "exit") == 0) {
        const pid_t child = fork();
        if (child == 0) {
            work(10);
            _exit(0);
        }
        end(child, 0);
    } else if (strcmp(how, "kill") == 0) {
        const pid_t child = fork();
        if (child == 0) {
            work(10);
            raise(SIGKILL);
        }
        end(child, SIGKILL);
    } else if (strcmp(how, "grandchild") == 0) {
        const pid_t child = fork();
        if (child == 0) {
            work(10);
            const pid_t grandchild = fork();
            if (grandchild == 0) {
                work(5);
                _exit(0);
            }
            end(grandchild, 0);
            work(3);
            _exit(0);
        }
        end(child, 0);
    } else if (strcmp(how, "raw") == 0) { /* no fork handler runs */
        const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (child == 0) {
            work(10);
            _exit(0);
        }
        end(child, 0);
    } else if (strcmp(how, "vfork") == 0) { /* it shares the memory: no child of its own */
        const pid_t child = vfork();
        if (child == 0) _exit(0);
        end(child, 0);
    }
    return 0;
}
