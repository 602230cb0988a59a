// error.h - an error has three parts: what was asked, what was found, what to do (docs/dev/style.md, "Messages").
//
// Contract: functions that can fail take a `struct error *` that is not NULL, and return false after they filled it. Longer texts
// are cut at the size of the field.
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct error {
    char asked[200];
    char found[300];
    char remedy[200];
};

#define ERROR_PRINTF __attribute__((format(printf, 2, 3)))

/// Each fills one part and returns false, so that a function can end with `return error_remedy(...)`.
bool error_asked(struct error *error, const char *format, ...) ERROR_PRINTF;
bool error_found(struct error *error, const char *format, ...) ERROR_PRINTF;
bool error_remedy(struct error *error, const char *format, ...) ERROR_PRINTF;

/// An error of the imitation itself, which no input explains: prints it, and aborts.
void error_stop(const struct error *error) __attribute__((noreturn));

/// Prints `PROGRAM: asked: found`, and the remedy on a second line.
void error_print(const struct error *error, const char *program, FILE *out);
