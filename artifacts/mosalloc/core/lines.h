// lines.h - reads a text file of /proc line by line, without memory of its own.
#pragma once

#include <cstring>

#include "core/sys.h"

namespace mosalloc {

/// Calls line(text) for each line of a file, without its end; lines longer than the buffer are cut. Returns 0 or
/// -errno.
template <class F>
long for_each_line(const char* path, F line) {
    char buffer[4096];
    const long fd = sys::open(path, O_RDONLY);
    if (sys::failed(fd)) return fd;
    size_t held = 0;
    long got = 0;
    bool cut = false;  // inside a line whose beginning was passed on already
    while ((got = sys::read(fd, buffer + held, sizeof buffer - 1 - held)) > 0) {
        held += static_cast<size_t>(got);
        size_t start = 0;
        for (size_t at = 0; at < held; ++at) {
            if (buffer[at] != '\n') continue;
            buffer[at] = 0;
            if (!cut) line(buffer + start);
            cut = false;
            start = at + 1;
        }
        if (start == 0 && held == sizeof buffer - 1) {
            buffer[held] = 0;
            if (!cut) line(buffer);
            cut = true;
            start = held;
        }
        held -= start;
        memmove(buffer, buffer + start, held);
    }
    sys::close(fd);
    return got;
}

}  // namespace mosalloc
