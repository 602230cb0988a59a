// lines.h - a strict reader of text: lines of fields with one space between them.
//
// Rules: lines end with \n, the last one too. A line that starts with # is a comment; empty lines are comments. No other
// space, no tab, no byte outside printable ASCII. Numbers are decimal (or hexadecimal with 0x where asked for), without sign and
// without leading zeros. A line has at most LINE_MOST_FIELDS fields.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { LINE_MOST_FIELDS = 40 };

struct line {
    uint32_t count;
    const char *field[LINE_MOST_FIELDS];     // not terminated
    uint32_t length[LINE_MOST_FIELDS];
};

struct lines {
    const char *next, *end, *name;
    uint64_t number;       // of the line that was read last, from 1
    const char *broken;    // the rule of this reader that a line breaks; NULL: none so far
};

/// `text` and `name` must outlive the reader.
void lines_start(struct lines *lines, const char *text, size_t bytes, const char *name);

/// The next line that is no comment. False at the end of the text, or if a line breaks a rule (then `broken` is set).
bool lines_next(struct lines *lines, struct line *line);

/// Fills the error: the file and line, the rule, the remedy. Returns false.
bool lines_refuse(const struct lines *lines, const char *rule, const char *remedy, struct error *error);

bool field_is(const struct line *line, uint32_t field, const char *word);

/// False if the field does not exist or is no such number.
bool field_number(const struct line *line, uint32_t field, uint64_t least, uint64_t most, uint64_t *value);
bool field_signed(const struct line *line, uint32_t field, int64_t least, int64_t most, int64_t *value);
bool field_hex(const struct line *line, uint32_t field, uint64_t *value);

/// Copies a field with a terminator; false if it does not exist or is longer than size - 1.
bool field_copy(const struct line *line, uint32_t field, char *copy, size_t size);
