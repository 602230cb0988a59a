/* A daemon: gives up its rights in a child, which starts the same executable again and uses memory there. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** words) {
    if (count > 1) {
        char* at = malloc(5 << 20);
        if (at == NULL) return 4;
        memset(at, 'x', 5 << 20);
        printf("child of user %d\n", (int)getuid());
        free(at);
        return 0;
    }
    const pid_t child = fork();
    if (child == 0) {
        char* again[] = {words[0], "again", NULL};
        if (setgid(65534) != 0 || setuid(65534) != 0) _exit(5);
        execv(words[0], again);
        _exit(6);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 7;
}
