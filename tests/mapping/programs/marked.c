/* marked.c - threads that write all the time, children that meet the markers, and a region of interest in a thread.
 * Argument: bytes. Exit status 0 only if every child ended as without a capture. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "roi.h"

extern char **environ;
static char *memory;
static long bytes;
static volatile int stop;

static void *writes(void *unused) {
    while (!stop)
        for (long at = 0; at < bytes && !stop; at += 4096) memory[at]++;
    return unused;
}

static void *region(void *unused) {
    TESSERA_ROI_BEGIN();
    usleep(10000);
    TESSERA_ROI_END();
    return unused;
}

static int forked(void) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        region(NULL);
        _exit(7);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static int spawned(void) {
    char *arguments[] = {"true", NULL};
    int status = 1;
    pid_t child;
    if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) != 0) return 0;
    waitpid(child, &status, 0);
    return status == 0;
}

int main(int count, char **arguments) {
    pthread_t writers[2], one;
    bytes = count > 1 ? atol(arguments[1]) : 1 << 24;
    memory = malloc(bytes);
    memset(memory, 1, bytes);
    for (int i = 0; i < 2; i++) pthread_create(&writers[i], NULL, writes, NULL);
    if (!forked() || !spawned()) return 3;
    pthread_create(&one, NULL, region, NULL);
    pthread_join(one, NULL);
    if (!forked() || !spawned()) return 4;
    stop = 1;
    for (int i = 0; i < 2; i++) pthread_join(writers[i], NULL);
    puts("complete");
    return 0;
}
