// inject.c - a library for LD_PRELOAD that counts calls on files below a folder, and lets one of them fail.
//
// The file $TESSERA_INJECT is mapped as `struct page`, shared with the driver and with every child, so calls of
// several processes are counted together. While `armed`, the library counts and lists each call whose file is below
// `root`; the call `number` of `kind` fails with `error`, is cut to half of its bytes, or ends the process by SIGKILL.
// A descriptor is looked up when it is used (/proc/self/fd), so dup, O_TMPFILE and inherited ones need no care.
//
// glibc's stdio writes by internal calls, which no library can replace. Streams that write files below the folder
// are therefore made by fopencookie, with a descriptor of their own behind them. Raw system calls are not seen.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The order of driver.py. An `open` creates or writes a file, a `look` reads it, a `folder` opens one.
enum kind { OPEN, WRITE, SYNC, CLOSE, RENAME, LINK, UNLINK, MKDIR, TRUNCATE, LOCK, LOOK, FOLDER, KINDS };
enum mode { ONCE, ON, CUT, KILL };  // ON: this call and all later ones that take space
enum { NAME_BYTES = 240, CALLS = 16384 };

struct call {
    int32_t kind, there;  // whether the name was there: then neither it nor a folder takes space
    char path[NAME_BYTES];  // below the folder
};

struct page {
    _Atomic int32_t armed, fired, calls;
    int32_t kind, number, error, mode;
    _Atomic int32_t counts[KINDS];
    char root[PATH_MAX];
    struct call list[CALLS];
};

static struct page *page;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("TESSERA_INJECT");
    const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *at = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) page = at;
    close(fd);
}

#define NEXT(name)                                                  \
    ({                                                              \
        static __typeof__(&name) next;                              \
        if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
        next;                                                       \
    })

static bool watching(void) { return page && atomic_load(&page->armed); }

/// The part of a full name below the folder; NULL if it is elsewhere.
static const char *inside(const char *full) {
    const size_t length = strlen(page->root);
    if (strncmp(full, page->root, length) != 0 || (full[length] != '/' && full[length] != 0)) return NULL;
    return full[length] ? full + length + 1 : ".";
}

static const char *of_descriptor(int fd, char full[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, full, PATH_MAX - 1);
    if (length < 0) return NULL;
    full[length] = 0;
    return inside(full);
}

/// A name as it is inside the folder: links of its parents followed, its own last part as it is.
static const char *of_name(int at, const char *name, char full[PATH_MAX]) {
    char given[2 * PATH_MAX] = "", parent[2 * PATH_MAX];
    if (!name) return NULL;
    if (name[0] != '/') {
        if (at == AT_FDCWD ? !getcwd(given, PATH_MAX) : (of_descriptor(at, given), !given[0])) return NULL;
        strcat(given, "/");
    }
    if (strlen(name) >= PATH_MAX) return NULL;
    strcat(given, name);
    strcpy(parent, given);
    char *last = strrchr(parent, '/');
    *last++ = 0;
    if (!realpath(parent[0] ? parent : "/", full)) strcpy(full, parent);
    if (strlen(full) + strlen(last) + 2 > PATH_MAX) return NULL;
    strcat(strcat(full, "/"), last);
    return inside(full);
}

/// Counts a call; the error that it gets in place of being made, or 0. `*bytes` of a write may become fewer.
static int count(enum kind kind, const char *path, bool there, size_t *bytes) {
    const int number = atomic_fetch_add(&page->counts[kind], 1) + 1, place = atomic_fetch_add(&page->calls, 1);
    if (place < CALLS) {
        struct call *call = &page->list[place];
        call->kind = kind, call->there = there;
        strncpy(call->path, path, NAME_BYTES - 1);
    }
    const bool takes_space = kind == WRITE || ((kind == OPEN || kind == MKDIR) && !there);
    if (page->mode == ON && atomic_load(&page->fired) && takes_space) return page->error;
    if (kind != (enum kind)page->kind || number != page->number) return 0;
    atomic_store(&page->fired, place + 1);
    if (page->mode == KILL) kill(getpid(), SIGKILL);
    if (page->mode != CUT) return page->error;
    if (bytes && *bytes > 1) *bytes /= 2;
    return 0;
}

static int failed(int error) {
    errno = error;
    return -1;
}

static int named(enum kind kind, int at, const char *name) {
    char full[PATH_MAX];
    const int before = errno;
    const char *path = watching() ? of_name(at, name, full) : NULL;
    const int error = path ? count(kind, path, faccessat(at, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0, NULL) : 0;
    errno = error ? error : before;
    return error;
}

static int described(enum kind kind, int fd, size_t *bytes) {
    char full[PATH_MAX];
    const int before = errno;
    const char *path = watching() ? of_descriptor(fd, full) : NULL;
    const int error = path ? count(kind, path, true, bytes) : 0;
    errno = error ? error : before;
    return error;
}

// Opening and closing.

static bool folder(int at, const char *name) {
    struct stat status;
    return fstatat(at, name, &status, 0) == 0 && S_ISDIR(status.st_mode);
}

static int opening(int at, const char *name, int flags) {
    if (!watching()) return 0;
    const bool changes = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
    return named(changes ? OPEN : folder(at, name) ? FOLDER : LOOK, at, name);
}

#define MODE                                              \
    mode_t mode = 0;                                      \
    if (flags & (O_CREAT | O_TMPFILE)) {                  \
        va_list words;                                    \
        va_start(words, flags);                           \
        mode = va_arg(words, mode_t);                     \
        va_end(words);                                    \
    }
#define OPENS(function)                                                        \
    int function(const char *name, int flags, ...) {                           \
        MODE return opening(AT_FDCWD, name, flags) ? -1 : NEXT(function)(name, flags, mode); \
    }
#define OPENS_AT(function)                                                     \
    int function(int at, const char *name, int flags, ...) {                   \
        MODE return opening(at, name, flags) ? -1 : NEXT(function)(at, name, flags, mode); \
    }
OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)

int creat(const char *name, mode_t mode) { return open(name, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int creat64(const char *name, mode_t mode) { return open(name, O_WRONLY | O_CREAT | O_TRUNC, mode); }

#define TEMPORARY(function, parameters, words) \
    int function parameters { return named(OPEN, AT_FDCWD, name) ? -1 : NEXT(function) words; }
TEMPORARY(mkstemp, (char *name), (name))
TEMPORARY(mkstemp64, (char *name), (name))
TEMPORARY(mkostemp, (char *name, int flags), (name, flags))
TEMPORARY(mkostemp64, (char *name, int flags), (name, flags))

int close(int fd) {
    int error = 0;
    if (watching()) {
        const int before = errno, flags = fcntl(fd, F_GETFL);
        errno = before;
        if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) error = described(CLOSE, fd, NULL);
    }
    const int done = NEXT(close)(fd);  // as Linux does, a close that fails has closed
    return error ? failed(error) : done;
}

// Writing.

ssize_t write(int fd, const void *from, size_t bytes) {
    return described(WRITE, fd, &bytes) ? -1 : NEXT(write)(fd, from, bytes);
}
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset) {
    return described(WRITE, fd, &bytes) ? -1 : NEXT(pwrite)(fd, from, bytes, offset);
}
ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t offset) {
    return described(WRITE, fd, &bytes) ? -1 : NEXT(pwrite64)(fd, from, bytes, offset);
}
/// A vector is cut to half of its first part.
static ssize_t vector(int fd, const struct iovec *parts, int count_of, off64_t offset, bool placed) {
    size_t whole = 0;
    for (int i = 0; i < count_of; i++) whole += parts[i].iov_len;
    size_t bytes = whole;
    if (described(WRITE, fd, &bytes)) return -1;
    if (bytes != whole) {
        struct iovec half = {parts[0].iov_base, (parts[0].iov_len + 1) / 2};
        return placed ? NEXT(pwritev64)(fd, &half, 1, offset) : NEXT(writev)(fd, &half, 1);
    }
    return placed ? NEXT(pwritev64)(fd, parts, count_of, offset) : NEXT(writev)(fd, parts, count_of);
}
ssize_t writev(int fd, const struct iovec *parts, int n) { return vector(fd, parts, n, 0, false); }
ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t offset) { return vector(fd, parts, n, offset, true); }
ssize_t pwritev64(int fd, const struct iovec *parts, int n, off64_t offset) { return vector(fd, parts, n, offset, true); }

ssize_t sendfile(int out, int in, off_t *offset, size_t bytes) {
    return described(WRITE, out, &bytes) ? -1 : NEXT(sendfile)(out, in, offset, bytes);
}
ssize_t sendfile64(int out, int in, off64_t *offset, size_t bytes) {
    return described(WRITE, out, &bytes) ? -1 : NEXT(sendfile64)(out, in, offset, bytes);
}
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t bytes, unsigned flags) {
    return described(WRITE, out, &bytes) ? -1 : NEXT(copy_file_range)(in, from, out, to, bytes, flags);
}

#define ON_DESCRIPTOR(kind, function, parameters, words) \
    int function parameters { return described(kind, fd, NULL) ? -1 : NEXT(function) words; }
ON_DESCRIPTOR(SYNC, fsync, (int fd), (fd))
ON_DESCRIPTOR(SYNC, fdatasync, (int fd), (fd))
ON_DESCRIPTOR(SYNC, syncfs, (int fd), (fd))
ON_DESCRIPTOR(TRUNCATE, ftruncate, (int fd, off_t bytes), (fd, bytes))
ON_DESCRIPTOR(TRUNCATE, ftruncate64, (int fd, off64_t bytes), (fd, bytes))
ON_DESCRIPTOR(LOCK, flock, (int fd, int how), (fd, how))
int posix_fallocate(int fd, off_t offset, off_t bytes) {  // returns its error
    const int error = described(TRUNCATE, fd, NULL);
    return error ? error : NEXT(posix_fallocate)(fd, offset, bytes);
}

// Names.

#define ON_NAME(kind, at, function, parameters, words) \
    int function parameters { return named(kind, at, name) ? -1 : NEXT(function) words; }
ON_NAME(MKDIR, AT_FDCWD, mkdir, (const char *name, mode_t mode), (name, mode))
ON_NAME(MKDIR, at, mkdirat, (int at, const char *name, mode_t mode), (at, name, mode))
ON_NAME(UNLINK, AT_FDCWD, unlink, (const char *name), (name))
ON_NAME(UNLINK, at, unlinkat, (int at, const char *name, int flags), (at, name, flags))
ON_NAME(UNLINK, AT_FDCWD, rmdir, (const char *name), (name))
ON_NAME(UNLINK, AT_FDCWD, remove, (const char *name), (name))
ON_NAME(TRUNCATE, AT_FDCWD, truncate, (const char *name, off_t bytes), (name, bytes))
ON_NAME(TRUNCATE, AT_FDCWD, truncate64, (const char *name, off64_t bytes), (name, bytes))
ON_NAME(RENAME, AT_FDCWD, rename, (const char *from, const char *name), (from, name))
ON_NAME(RENAME, to, renameat, (int at, const char *from, int to, const char *name), (at, from, to, name))
ON_NAME(RENAME, to, renameat2, (int at, const char *from, int to, const char *name, unsigned flags), (at, from, to, name, flags))
ON_NAME(LINK, AT_FDCWD, link, (const char *from, const char *name), (from, name))
ON_NAME(LINK, to, linkat, (int at, const char *from, int to, const char *name, int flags), (at, from, to, name, flags))
ON_NAME(LINK, AT_FDCWD, symlink, (const char *from, const char *name), (from, name))
ON_NAME(LINK, to, symlinkat, (const char *from, int to, const char *name), (from, to, name))

// Streams: those that write a file below the folder get a descriptor of ours.

enum { STREAMS = 64 };
static struct stream {
    FILE *_Atomic file;
    int fd;
} streams[STREAMS];

static ssize_t stream_write(void *cookie, const char *from, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        const ssize_t put = write(((struct stream *)cookie)->fd, from + done, bytes - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return 0;  // as fopencookie(3) asks: an error is 0
        done += (size_t)put;
    }
    return (ssize_t)done;
}
static ssize_t stream_read(void *cookie, char *to, size_t bytes) { return read(((struct stream *)cookie)->fd, to, bytes); }
static int stream_seek(void *cookie, off64_t *offset, int whence) {
    *offset = lseek64(((struct stream *)cookie)->fd, *offset, whence);
    return *offset < 0 ? -1 : 0;
}
static int stream_close(void *cookie) {
    struct stream *stream = cookie;
    const int fd = stream->fd;
    atomic_store(&stream->file, NULL);
    return close(fd);
}

static FILE *stream_on(int fd, const char *how) {
    for (struct stream *one = streams; one < streams + STREAMS; one++) {
        FILE *none = NULL;
        if (!atomic_compare_exchange_strong(&one->file, &none, (FILE *)one)) continue;
        one->fd = fd;
        FILE *file = fopencookie(one, how, (cookie_io_functions_t){stream_read, stream_write, stream_seek, stream_close});
        atomic_store(&one->file, file);
        return file;
    }
    abort();  // more streams than the table has: a larger one is needed
}

static FILE *opened(const char *name, const char *how) {
    char full[PATH_MAX];
    const bool plus = strchr(how, '+') != NULL;
    if ((how[0] == 'r' && !plus) || !watching() || !of_name(AT_FDCWD, name, full)) return NULL;
    int flags = plus ? O_RDWR : O_WRONLY;
    if (how[0] != 'r') flags |= O_CREAT | (how[0] == 'a' ? O_APPEND : O_TRUNC);
    if (strchr(how, 'x')) flags |= O_EXCL;
    if (strchr(how, 'e')) flags |= O_CLOEXEC;
    const int fd = open(name, flags, 0666);
    const char words[] = {how[0], plus ? '+' : 0, 0};
    return fd < 0 ? (FILE *)-1 : stream_on(fd, words);
}

#define STREAM(function)                                                                  \
    FILE *function(const char *name, const char *how) {                                   \
        if (how[0] == 'r' && !strchr(how, '+') && named(LOOK, AT_FDCWD, name)) return NULL; \
        FILE *file = opened(name, how);                                                   \
        return file == (FILE *)-1 ? NULL : file ? file : NEXT(function)(name, how);       \
    }
STREAM(fopen)
STREAM(fopen64)

FILE *fdopen(int fd, const char *how) {
    char full[PATH_MAX];
    const bool ours = (how[0] != 'r' || strchr(how, '+')) && watching() && of_descriptor(fd, full);
    return ours ? stream_on(fd, how) : NEXT(fdopen)(fd, how);
}

static int descriptor_of(FILE *file, int (*next)(FILE *)) {
    for (int i = 0; i < STREAMS; i++)
        if (atomic_load(&streams[i].file) == file) return streams[i].fd;
    return next(file);
}
int fileno(FILE *file) { return descriptor_of(file, NEXT(fileno)); }
int fileno_unlocked(FILE *file) { return descriptor_of(file, NEXT(fileno_unlocked)); }
