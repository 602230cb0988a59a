#include "file.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace differential {

void make_file(Thread& t) {
    t.file = memfd_create("differential", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", t.file);
    t.file_read_only = open(path, O_RDONLY | O_CLOEXEC);
    const long bytes = kFilePages * static_cast<long>(kPage) + 100;
    if (t.file < 0 || t.file_read_only < 0 || ftruncate(t.file, bytes) != 0) {
        perror("differential: a file in memory");
        exit(3);
    }
    for (long at = 0; at < bytes; at += 1000)
        if (pwrite(t.file, &at, 8, at) != 8 && at + 8 <= bytes) exit(3);
    if (ftruncate(t.file, bytes) != 0) exit(3);
}

}  // namespace differential
