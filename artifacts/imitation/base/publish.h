// publish.h - gives a complete file its name, so that a power failure leaves the old file or the whole new one.
//
// A header alone, for C and C++: the library of logs, which the simulator builds, too, depends on no other library.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// Syncs and closes `file`, which is open as `temporary`, renames it to `target`, and syncs the folder. False: errno says why, and
/// `temporary` is gone. Then `target` is the old file, or the new one if only its folder could not be synced. Always closes `file`.
static inline bool publish_file(FILE *file, const char *temporary, const char *target) {
    char folder[4096];
    const char *slash = strrchr(target, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - target + 1) : 1, slash ? target : ".");
    const int above = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // first: an error must come before the name changes
    bool done = above >= 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
    int error = errno;
    if (fclose(file) != 0 && done) done = false, error = errno;
    if (done) done = rename(temporary, target) == 0, error = errno;
    if (!done) remove(temporary);
    if (done && fsync(above) != 0 && errno != EINVAL) done = false, error = errno;  // EINVAL: the file system cannot sync folders
    if (above >= 0) close(above);
    errno = error;
    return done;
}
