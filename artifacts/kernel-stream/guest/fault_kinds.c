// SPDX-License-Identifier: MIT
/*
 * fault-kinds FILE: makes page faults of each kind, in the guest. The address of the instruction names the kind (touches.S).
 *
 * FILE is made anew, 4KB at a time, so that the page cache holds it in small folios. At the end the program keeps all memory and asks
 * the host to read the guest's memory, through descriptor 9 (the second serial port).
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "area.h"

#define TOUCH(kind) void touch_##kind(char *page)
TOUCH(write_4kb);
TOUCH(read_zero);
TOUCH(write_zero);
TOUCH(read_file);
TOUCH(write_private);
TOUCH(write_cow);
TOUCH(write_reuse);
TOUCH(write_2mb);

enum { PAGES_4KB = 1100, PAGES_ZERO = 600, PAGES_FILE = 1024, PAGES_PRIVATE = 64, PAGES_FORK = 256, PAGES_2MB = 8 };

static void all(void (*touch)(char *), char *start, size_t pages, size_t step) {
    for (size_t i = 0; i < pages; i++) touch(start + i * step);
}

static int new_file(const char *path) {
    static char block[PAGE];
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    memset(block, 'x', sizeof block);
    for (int i = 0; i < PAGES_FILE; i++)
        if (file < 0 || write(file, block, sizeof block) != (ssize_t)sizeof block) fail(path);
    if (fsync(file)) fail(path);
    return file;
}

/* Half of the pages is copied while a child shares them, the other half used again after the child is gone. */
static void shared_with_child(void) {
    char *area = area_anonymous(2 * PAGES_FORK * PAGE, 0);
    int to_child[2];
    char byte;
    memset(area, 1, 2 * PAGES_FORK * PAGE);
    if (pipe(to_child)) fail("pipe");
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        close(to_child[1]);
        _exit(read(to_child[0], &byte, 1) != 0);
    }
    all(touch_write_cow, area, PAGES_FORK, PAGE);
    close(to_child[1]);
    if (waitpid(child, NULL, 0) != child) fail("waitpid");
    all(touch_write_reuse, area + PAGES_FORK * PAGE, PAGES_FORK, PAGE);
}

static void look(void) {
    static const char text[] = "@walk end\n";
    char answer;
    if (write(9, text, sizeof text - 1) != (ssize_t)sizeof text - 1) fail("look");
    do {
        if (read(9, &answer, 1) != 1) fail("look");
    } while (answer != '\n');
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    const int file = new_file(argv[1]);
    char *zero = area_anonymous(PAGES_ZERO * PAGE, 0);
    all(touch_write_4kb, area_anonymous(PAGES_4KB * PAGE, 0), PAGES_4KB, PAGE);
    all(touch_read_zero, zero, PAGES_ZERO, PAGE);
    all(touch_write_zero, zero, PAGES_ZERO / 2, PAGE);
    all(touch_read_file, area_file(file, PAGES_FILE * PAGE, 1), PAGES_FILE, PAGE);
    all(touch_write_private, area_file(file, PAGES_FILE * PAGE, 0), PAGES_PRIVATE, PAGE);
    all(touch_write_2mb, area_anonymous((size_t)PAGES_2MB * HUGE, 1), PAGES_2MB, HUGE);
    shared_with_child();
    look();
    return 0;
}
