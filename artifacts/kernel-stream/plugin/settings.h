// SPDX-License-Identifier: GPL-2.0-only
// settings.h - addresses of the kernel and of the guest's program, from a file of lines `NAME ADDRESS [ADDRESS]`.
//
//   out PATH          the recording
//   entry A           first instruction of the kernel in a page fault (asm_exc_page_fault)
//   return A          the instruction that leaves an exception (native_irq_return_iret)
//   schedule A        a fault that gets here is dropped: another task ran in it
//   interrupt A       first instruction of an interrupt's or exception's entry; up to 64 lines
//   vectors A B       entries of device interrupts, from A to before B
//   touch A B         instructions of the guest's program that may fault, from A to before B
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MOST_INTERRUPTS = 64, PATH_BYTES = 4096 };

struct settings {
    char out[PATH_BYTES];
    uint64_t entry, leave, schedule;
    uint64_t vectors_begin, vectors_end;
    uint64_t touch_begin, touch_end;
    uint64_t interrupts[MOST_INTERRUPTS];
    unsigned interrupt_count;
};

/// Reads a file. Ends the process if a line is wrong or one is missing.
struct settings settings_read(const char *path);

/// Whether this address is where an interrupt or an exception enters the kernel.
bool settings_is_interrupt(const struct settings *settings, uint64_t pc);
