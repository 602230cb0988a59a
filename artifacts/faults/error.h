// error.h - what was asked, what was found, what to do; printed on stderr before the program ends.
#pragma once

enum { EXIT_FAILED_WORK = 1, EXIT_WRONG_REQUEST = 2 };

/// Prints `tessera-faults: ASKED: FOUND` and the remedy, and ends the program with `status`. `found` is a format.
_Noreturn void stop(int status, const char *asked, const char *remedy, const char *found, ...) __attribute__((format(printf, 4, 5)));
