/* remote: does one memory call per line of stdin and answers each with one line, so that a test can look at the system
 * between two calls. Nothing of its own lies in the pools: no stdio, no malloc except where it is asked to.
 *   map BYTES | malloc BYTES | sbrk BYTES   "ok SLOT" or "errno N"
 *   fill SLOT BYTE | check SLOT BYTE        "ok", or "differs" (check)
 *   unmap SLOT | free SLOT                  "ok" or "errno N"
 *   _exit STATUS */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 4096 };
static struct {
    char* at;
    size_t bytes;
} g_slots[SLOTS];
static int g_next;

static void say(const char* word, long number) {
    char line[64];
    char digits[24];
    int n = 0;
    strcpy(line, word);
    if (number >= 0) {
        strcat(line, " ");
        do digits[n++] = (char)('0' + number % 10);
        while ((number /= 10) > 0);
        size_t length = strlen(line);
        while (n > 0) line[length++] = digits[--n];
        line[length] = 0;
    }
    strcat(line, "\n");
    if (write(1, line, strlen(line)) < 0) _exit(3);
}

static int read_line(char* line, size_t capacity) {
    size_t length = 0;
    while (length + 1 < capacity && read(0, line + length, 1) == 1 && line[length] != '\n') ++length;
    line[length] = 0;
    return length > 0;
}

static void keep(void* at, void* failed, size_t bytes) {
    if (at == failed) {
        say("errno", errno);
        return;
    }
    g_slots[g_next].at = at;
    g_slots[g_next].bytes = bytes;
    say("ok", g_next++);
}

static void done(int result) {
    if (result == 0) say("ok", -1);
    else say("errno", errno);
}

int main(void) {
    char line[128];
    while (read_line(line, sizeof line)) {
        char* rest = strchr(line, ' ');
        const size_t number = rest == NULL ? 0 : strtoull(rest, &rest, 10);
        const char byte = rest == NULL ? 0 : (char)strtol(rest, NULL, 10);
        const size_t slot = number % SLOTS;
        char* at = g_slots[slot].at;
        const size_t bytes = g_slots[slot].bytes;
        if (strncmp(line, "map ", 4) == 0) {
            keep(mmap(NULL, number, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MAP_FAILED, number);
        } else if (strncmp(line, "malloc ", 7) == 0) {
            keep(malloc(number), NULL, number);
        } else if (strncmp(line, "sbrk ", 5) == 0) {
            keep(sbrk((intptr_t)number), (void*)-1, number);
        } else if (strncmp(line, "fill ", 5) == 0) {
            memset(at, byte, bytes);
            say("ok", -1);
        } else if (strncmp(line, "check ", 6) == 0) {
            size_t i = 0;
            while (i < bytes && at[i] == byte) ++i;
            say(i == bytes ? "ok" : "differs", -1);
        } else if (strncmp(line, "unmap ", 6) == 0) {
            done(munmap(at, bytes));
        } else if (strncmp(line, "free ", 5) == 0) {
            free(at);
            done(0);
        } else if (strncmp(line, "_exit ", 6) == 0) {
            _exit((int)number);
        } else {
            say("unknown", -1);
        }
    }
    return 0;
}
