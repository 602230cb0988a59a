#include "base/error.h"

#include <stdarg.h>
#include <stdlib.h>

#define FILL(field)                                           \
    do {                                                      \
        va_list arguments;                                    \
        va_start(arguments, format);                          \
        vsnprintf((field), sizeof(field), format, arguments); \
        va_end(arguments);                                    \
    } while (0)

bool error_asked(struct error *error, const char *format, ...) {
    FILL(error->asked);
    return false;
}

bool error_found(struct error *error, const char *format, ...) {
    FILL(error->found);
    return false;
}

bool error_remedy(struct error *error, const char *format, ...) {
    FILL(error->remedy);
    return false;
}

void error_print(const struct error *error, const char *program, FILE *out) {
    fprintf(out, "%s: %s: %s\n  what to do: %s\n", program, error->asked, error->found, error->remedy);
}

void error_stop(const struct error *error) {
    error_print(error, "imitation", stderr);
    abort();
}
