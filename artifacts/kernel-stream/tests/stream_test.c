// SPDX-License-Identifier: GPL-2.0-only
// The stream of hand-made instructions and accesses.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

enum {
    ENTRY = 0xf100,
    LEAVE = 0xf200,
    SCHEDULE = 0xf300,
    TIMER = 0xf400,
    VECTOR = 0xf500,
    VECTORS_END = 0xf510,
    CODE = 0xf900,
    TOUCH = 0x10
};

static const struct settings SETTINGS = {
    .entry = ENTRY,
    .leave = LEAVE,
    .schedule = SCHEDULE,
    .interrupts = {TIMER},
    .interrupt_count = 1,
    .vectors_begin = VECTOR,
    .vectors_end = VECTORS_END,
    .touch_begin = TOUCH,
    .touch_end = 0x20,
};
static struct stream stream;
static int failures;

static void code(uint64_t pc) { stream_kernel(&stream, pc, false); }
static void string(uint64_t pc) { stream_kernel(&stream, pc, true); }
static void access_of(uint64_t address, unsigned bytes, bool store) {
    const struct access access = {address, address + 0x1000, bytes, store};
    stream_access(&stream, &access);
}

/// Runs a case and compares its text, the first line left out.
static void check(const char *name, void (*run)(void), const char *wanted) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    stream_begin(&stream, &SETTINGS, out);
    run();
    fclose(out);
    const char *body = strchr(text, '\n') + 1;
    if (strcmp(body, wanted) != 0) {
        printf("%s:\n--- found\n%s--- wanted\n%s", name, body, wanted);
        failures++;
    }
    free(text);
}

static void touch_again(void) {
    stream_user(&stream, TOUCH);
    access_of(0x5000, 1, true);
}

static void plain(void) {
    stream_user(&stream, 0x8); // a block of the program
    stream_user(&stream, TOUCH);
    code(ENTRY);
    code(CODE);
    access_of(0x100, 8, false);
    access_of(0x108, 4, true); // the same instruction
    code(CODE + 1);
    code(CODE + 2);
    touch_again();
    access_of(0x5001, 1, true); // not of a fault
}

static void of_another_program(void) {
    stream_user(&stream, 0x30);
    code(ENTRY);
    access_of(0x100, 8, false);
    stream_user(&stream, 0x30);
}

static void strings(void) {
    stream_user(&stream, TOUCH);
    code(ENTRY);
    for (unsigned i = 0; i < 512; i++) {
        string(CODE);
        access_of(0x1000 + 8 * i, 8, true);
    }
    string(CODE); // the repetition that finds the count at zero
    for (unsigned i = 0; i < 4; i++) {
        string(CODE + 9);
        access_of(0x3000 + 8 * i, 8, false);
        access_of(0x4000 + 8 * i, 8, true);
    }
    access_of(0x9000, 8, true); // not consecutive
    code(CODE + 1);
    touch_again();
}

static void interrupts(void) {
    stream_user(&stream, TOUCH);
    code(ENTRY);
    code(CODE);
    code(TIMER); // an interrupt, in which a device interrupts with two instructions of its vector
    access_of(0x100, 8, false);
    code(VECTOR);
    code(VECTOR + 2);
    code(LEAVE);
    code(CODE + 50);
    code(LEAVE);
    code(CODE + 1);
    access_of(0x200, 8, false);
    code(LEAVE); // the fault's own
    touch_again();
}

static void scheduled(void) {
    stream_user(&stream, TOUCH);
    code(ENTRY);
    code(SCHEDULE);
    access_of(0x100, 8, false);
    stream_user(&stream, TOUCH);
}

static void twice(void) {
    stream_user(&stream, TOUCH);
    code(ENTRY);
    code(LEAVE);
    stream_user(&stream, TOUCH);
    code(ENTRY); // the access faulted again
    code(LEAVE);
    touch_again();
}

static void in_a_fault(void) {
    stream_user(&stream, TOUCH);
    code(ENTRY);
    code(ENTRY);
    stream_user(&stream, TOUCH);
}

int main(void) {
    check("plain", plain, "fault 10\n2 l 100 1100 8\n0 s 108 1108 4\nend 2 0 0\ntouch 5000 6000 1\n");
    check("of another program", of_another_program, "");
    check("strings", strings,
          "fault 10\n2 S 1000 2000 4096\n1 S 4000 5000 32\n0 L 3000 4000 32\n0 S 9000 a000 8\nend 1 0 0\ntouch 5000 6000 1\n");
    check("interrupts", interrupts, "fault 10\n3 l 200 1200 8\nend 1 2 6\ntouch 5000 6000 1\n");
    check("scheduled", scheduled, "fault 10\ndrop scheduled\n");
    check("twice", twice, "fault 10\nend 2 0 0\ndrop faulted-again\nfault 10\nend 2 0 0\ntouch 5000 6000 1\n");
    check("in a fault", in_a_fault, "fault 10\ndrop fault-in-fault\n");
    return failures != 0;
}
