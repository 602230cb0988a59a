// SPDX-License-Identifier: GPL-2.0-only
#include "stream.h"

#include <inttypes.h>

void stream_begin(struct stream *stream, const struct settings *settings, FILE *out) {
    *stream = (struct stream){.settings = settings, .out = out};
    fprintf(out, "tessera-fault-stream 1\n");
}

static void write_access(struct stream *stream, const struct access *access, const char *letters) {
    fprintf(stream->out, "%" PRIu64 " %c %" PRIx64 " %" PRIx64 " %" PRIu32 "\n", stream->since, letters[access->store],
            access->virtual_address, access->physical_address, access->bytes);
    stream->since = 0;
}

static void end_string(struct stream *stream) {
    struct access ended;
    while (runs_take(&stream->runs, &ended)) write_access(stream, &ended, "LS");
    stream->string_pc = 0;
}

/// A fault is complete in the file, whenever QEMU is killed.
static void finish(struct stream *stream) { fflush(stream->out); }

static void drop(struct stream *stream, const char *reason) {
    fprintf(stream->out, "drop %s\n", reason);
    finish(stream);
    stream->inside = stream->awaits_touch = false;
    stream->runs = (struct runs){0};
}

static void begin_fault(struct stream *stream) {
    stream->inside = true;
    stream->leaving = stream->in_vector = false;
    stream->depth = 0;
    stream->since = stream->interrupts = stream->removed = 0;
    stream->string_pc = 0;
    stream->faults++;
    fprintf(stream->out, "fault %" PRIx64 "\n", stream->user_pc);
}

/// The program goes on.
static void end_fault(struct stream *stream) {
    end_string(stream);
    fprintf(stream->out, "end %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", stream->since, stream->interrupts, stream->removed);
    stream->inside = false;
    stream->awaits_touch = true;
}

void stream_user(struct stream *stream, uint64_t pc) {
    if (stream->inside && (stream->depth || pc != stream->user_pc))
        drop(stream, stream->depth ? "interrupt-never-left" : "another-instruction");
    else if (stream->inside) end_fault(stream);
    else if (stream->awaits_touch && pc != stream->user_pc) drop(stream, "no-access");
    stream->user_pc = pc;
}

/// Follows interrupts; true if this instruction belongs to one.
static bool taken_out(struct stream *stream, uint64_t pc) {
    const struct settings *settings = stream->settings;
    if (stream->leaving) {
        stream->leaving = false;
        stream->depth--;
    }
    const bool vector = settings->vectors_begin <= pc && pc < settings->vectors_end;
    // A vector has several instructions; only the first one enters.
    if (settings_is_interrupt(settings, pc) && !(vector && stream->in_vector)) {
        end_string(stream);
        stream->depth++;
        stream->interrupts++;
    }
    stream->in_vector = vector;
    if (!stream->depth) return false;
    stream->leaving = pc == settings->leave;
    stream->removed++;
    return true;
}

void stream_kernel(struct stream *stream, uint64_t pc, bool string) {
    if (!stream->inside) {
        const struct settings *settings = stream->settings;
        if (pc != settings->entry || stream->user_pc < settings->touch_begin || stream->user_pc >= settings->touch_end) return;
        if (stream->awaits_touch) drop(stream, "faulted-again");
        begin_fault(stream);
        stream->since = 1;
        return;
    }
    if (pc == stream->settings->schedule) {
        drop(stream, "scheduled");
        return;
    }
    if (taken_out(stream, pc)) return;
    if (pc == stream->settings->entry) {
        drop(stream, "fault-in-fault");
        return;
    }
    if (string && pc == stream->string_pc) return;
    end_string(stream);
    stream->string_pc = string ? pc : 0;
    stream->since++;
}

void stream_access(struct stream *stream, const struct access *access) {
    if (stream->awaits_touch) {
        fprintf(stream->out, "touch %" PRIx64 " %" PRIx64 " %" PRIu32 "\n", access->virtual_address, access->physical_address,
                access->bytes);
        finish(stream);
        stream->awaits_touch = false;
        return;
    }
    if (!stream->inside || stream->depth) return;
    if (!stream->string_pc) {
        write_access(stream, access, "ls");
        return;
    }
    struct access ended;
    if (runs_add(&stream->runs, access, &ended)) write_access(stream, &ended, "LS");
}
