#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"

static const char *const REMEDY = "name another folder with --folder, or a smaller --size";

int source_create(const char *folder, size_t bytes) {
    char path[4096];
    if (strlen(folder) + 32 > sizeof path) stop(EXIT_WRONG_REQUEST, "--folder", REMEDY, "its name has %zu bytes", strlen(folder));
    strcat(strcpy(path, folder), "/tessera-faults-XXXXXX");
    const int file = mkstemp(path);
    if (file < 0) stop(EXIT_WRONG_REQUEST, "--folder", REMEDY, "no file can be made in '%s': %s", folder, strerror(errno));
    unlink(path);
    // Written 4KB at a time, so that the cache gets small folios: large ones are mapped whole by one fault.
    static char block[4096];
    memset(block, 'x', sizeof block);
    for (size_t done = 0; done < bytes;) {
        const size_t left = bytes - done;
        const ssize_t written = write(file, block, left < sizeof block ? left : sizeof block);
        if (written < 0 && errno != EINTR)
            stop(EXIT_FAILED_WORK, "a file of --size bytes", REMEDY, "%zu of %zu bytes in '%s': %s", done, bytes, folder, strerror(errno));
        done += written > 0 ? (size_t)written : 0;
    }
    if (fdatasync(file) != 0) stop(EXIT_FAILED_WORK, "a file of --size bytes", REMEDY, "it cannot be synced: %s", strerror(errno));
    return file;
}

void source_require_cached(void *mapping, size_t bytes) {
    const size_t pages = bytes / 4096;
    unsigned char *resident = malloc(pages);
    if (!resident || mincore(mapping, bytes, resident) != 0)
        stop(EXIT_FAILED_WORK, "which pages of the file are cached", REMEDY, "mincore: %s", strerror(errno));
    size_t absent = 0;
    for (size_t i = 0; i < pages; i++) absent += !(resident[i] & 1);
    free(resident);
    if (absent)
        stop(EXIT_FAILED_WORK, "a file in the page cache", "give a smaller --size, or free memory", "%zu of %zu pages are not cached",
             absent, pages);
}
