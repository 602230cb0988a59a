// SPDX-License-Identifier: GPL-2.0-only
// Settings: what is read, and that wrong files end the process with status 2.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "settings.h"

static const char GOOD[] =
    "out /tmp/with space\nentry ff10\nreturn ff20\nschedule ff30\ninterrupt ff40\ninterrupt ff41\nvectors ff50 ff60\ntouch 10 20\n";
static char path[4096];

static void write_text(const char *text) {
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file)) exit(3);
}

static int status_of(const char *text) {
    write_text(text);
    const pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(3);
        settings_read(path);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int failures;
#define CHECK(condition) ((condition) ? (void)0 : (void)(failures++, printf("line %d: %s\n", __LINE__, #condition)))

int main(int count, char **arguments) {
    snprintf(path, sizeof path, "%s/settings.txt", count > 1 ? arguments[1] : ".");
    write_text(GOOD);
    const struct settings read = settings_read(path);
    CHECK(strcmp(read.out, "/tmp/with space") == 0);
    CHECK(read.entry == 0xff10 && read.leave == 0xff20 && read.schedule == 0xff30);
    CHECK(read.touch_begin == 0x10 && read.touch_end == 0x20);
    CHECK(read.interrupt_count == 2 && settings_is_interrupt(&read, 0xff41) && !settings_is_interrupt(&read, 0xff42));
    CHECK(settings_is_interrupt(&read, 0xff50) && settings_is_interrupt(&read, 0xff5f) && !settings_is_interrupt(&read, 0xff60));
    CHECK(status_of(GOOD) == 0);
    const char *const lines[] = {"out", "entry", "return", "schedule", "vectors", "touch"};
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[sizeof GOOD] = "";
        char copy[sizeof GOOD];
        memcpy(copy, GOOD, sizeof GOOD);
        for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
            if (strncmp(line, lines[i], strlen(lines[i])) != 0) strcat(strcat(text, line), "\n");
        CHECK(status_of(text) == 2);
    }
    const char *const wrong[] = {"entry\n",  "entry 1 2\n", "entry 1 2 3\n",  "vectors 5\n", "vectors 6 5\n",
                                 "exit 1\n", "\n",          "interrupt 1 2\n"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[2 * sizeof GOOD];
        snprintf(text, sizeof text, "%s%s", GOOD, wrong[i]);
        CHECK(status_of(text) == 2);
    }
    return failures != 0;
}
