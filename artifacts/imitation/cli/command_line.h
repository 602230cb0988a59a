// command_line.h - options of a command line, from a table that says what each one takes and where that goes.
//
// `--name value`, in any order among the other words. The last one of two counts.
#pragma once

#include <stdint.h>

#include "base/error.h"

/// Where the value goes: one of the pointers from `flag` to `second` is set.
struct option {
    const char *name;          // with its dashes
    bool *flag;                // becomes true; no value follows
    const char **text;         // with `words`, one of them
    uint32_t *number;          // from least to most
    uint64_t *wide;            // the same, for larger numbers
    uint64_t *bytes;           // a size in MB or GB, at most `most`
    uint32_t *word;            // the value's place among `words`
    bool *second;              // whether the value is the second of two `words`
    uint64_t least, most;
    const char *const *words;  // ends with NULL
    bool *given;               // becomes true; NULL: nobody asks
};

struct command_line {
    const char *program;
    const struct option *options;  // ends with one that has no name
    const char **words[2];         // where the words that are no options go; NULL: there is none
    bool *help;                    // --help or -h; nothing behind it is read
};

bool command_line_parse(const struct command_line *line, int count, char **arguments, struct error *error);

/// Fills the error: the option and its value (NULL: none), the rule, and where the help is. Returns false.
bool command_line_refuse(struct error *error, const char *program, const char *option, const char *value, const char *rule);
