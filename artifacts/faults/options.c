#include "options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

static const char USAGE[] = "tessera-faults --kind NAME --out FILE [--size BYTES] [--passes N] [--processor N] [--folder DIR]";
static const size_t MULTIPLE = (size_t)2 << 20, LARGEST = (size_t)1 << 40;

static size_t number(const char *option, const char *text, size_t least, size_t most) {
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || value < least || value > most)
        stop(EXIT_WRONG_REQUEST, option, USAGE, "'%s' is no whole number from %zu to %zu", text, least, most);
    return (size_t)value;
}

struct options options_read(int count, char **arguments) {
    struct options read = {.kind = NULL, .bytes = (size_t)128 << 20, .passes = 8, .processor = 0, .folder = ".", .out = NULL};
    for (int i = 1; i < count; i += 2) {
        const char *name = arguments[i];
        if (i + 1 >= count) stop(EXIT_WRONG_REQUEST, name, USAGE, "it has no value");
        const char *value = arguments[i + 1];
        if (strcmp(name, "--kind") == 0) read.kind = kind_named(value);
        else if (strcmp(name, "--out") == 0) read.out = value;
        else if (strcmp(name, "--folder") == 0) read.folder = value;
        else if (strcmp(name, "--size") == 0) read.bytes = number(name, value, MULTIPLE, LARGEST);
        else if (strcmp(name, "--passes") == 0) read.passes = (unsigned)number(name, value, 1, 10000);
        else if (strcmp(name, "--processor") == 0) read.processor = (unsigned)number(name, value, 0, 1023);
        else stop(EXIT_WRONG_REQUEST, name, USAGE, "there is no such option");
    }
    if (!read.kind || !read.out) stop(EXIT_WRONG_REQUEST, read.kind ? "--out" : "--kind", USAGE, "it is missing");
    if (read.bytes % MULTIPLE) stop(EXIT_WRONG_REQUEST, "--size", USAGE, "%zu is no multiple of %zu", read.bytes, MULTIPLE);
    return read;
}
