// SPDX-License-Identifier: GPL-2.0-only
// stream.h - the recording: from the kernel's entry in a page fault to the program's next instruction.
//
// The recording is text (docs/explain/faults.md). A fault is
//
//   fault PC                                 address of the instruction that faulted
//   COUNT l|s VIRTUAL PHYSICAL BYTES         a load or store; COUNT instructions ran since the line before
//   COUNT L|S VIRTUAL PHYSICAL BYTES         loads or stores of a repeated string instruction, which counts once
//   end COUNT INTERRUPTS REMOVED             interrupts inside, and their instructions, which are not in the lines
//   touch VIRTUAL PHYSICAL BYTES             the access of the instruction that faulted, repeated
//
// or it ends with `drop REASON`. Addresses are hexadecimal. Instructions of interrupts are taken out: from their entry to the
// instruction that leaves them. Not recorded: what the processor itself pushes when it enters the kernel, and page walks.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runs.h"
#include "settings.h"

struct stream {
    const struct settings *settings;
    FILE *out;
    bool inside;        // a fault is being recorded
    bool awaits_touch;  // a fault ended; its instruction has not accessed memory yet
    bool dropped;       // nothing more of this fault is written
    bool leaving;       // the last instruction left the interrupt
    bool in_vector;     // the last instruction was an entry of a device interrupt
    unsigned depth;     // interrupts that are being taken out
    uint64_t user_pc;   // last instruction, or first of the last block, of a program
    uint64_t string_pc; // of the string instruction that repeats; 0: none
    uint64_t since;     // instructions since the last line
    uint64_t interrupts, removed;
    uint64_t faults;
    struct runs runs;
};

/// A recording that writes to `out`, with its first line.
void stream_begin(struct stream *stream, const struct settings *settings, FILE *out);

/// A block of a program begins, or an instruction that may fault.
void stream_user(struct stream *stream, uint64_t pc);

/// An instruction of the kernel begins. `string`: it may repeat, and is called once for each repetition.
void stream_kernel(struct stream *stream, uint64_t pc, bool string);

/// The last instruction accessed memory. Of programs, only instructions that may fault.
void stream_access(struct stream *stream, const struct access *access);
