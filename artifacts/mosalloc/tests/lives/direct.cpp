// direct.cpp - reads past the page cache, which write to frames: by another thread while this one splits pages, and by
// Linux AIO.
#include <cstring>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events.h"
#include "pins.h"

namespace lives {
namespace {

constexpr size_t kReadPages = 8, kBytes = kReadPages * kPage;

char* map_buffer(Self& s) {
    const Maps maps(s.t, Maps::shared);
    void* got = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return s.t.log.call("mmap", got) ? static_cast<char*>(got) : nullptr;
}

void unmap_buffer(Self& s, char* buffer) {
    const Maps maps(s.t, Maps::shared);
    s.t.log.call("munmap", munmap(buffer, kBytes));
}

/// Compares with the same bytes by way of the page cache.
void check_read(Self& s, const char* buffer, long offset) {
    static thread_local char t_expected[kBytes];
    const int file = data_file(*s.options, false);
    s.t.log.result("pread", static_cast<uint64_t>(pread(file, t_expected, kBytes, offset)));
    close(file);
    compare(s, buffer, t_expected, kBytes);
}

struct Reader {
    int file;
    char* buffer;
    long offset;
    unsigned rounds;
    long short_reads;
};

void* read_rounds(void* argument) {
    Reader& r = *static_cast<Reader*>(argument);
    for (unsigned i = 0; i < r.rounds; ++i) r.short_reads += pread(r.file, r.buffer, kBytes, r.offset) != static_cast<ssize_t>(kBytes);
    return nullptr;
}

}  // namespace

void event_direct(Self& s) {
    if (!s.features.direct || s.options->data == nullptr) return;
    s.t.log.begin("direct");
    char* buffer = map_buffer(s);
    s.t.log.end();
    if (buffer == nullptr) return;
    const long offset = static_cast<long>(s.t.random.below((kDataBytes - kBytes) / kPage) * kPage);
    Reader reader = {data_file(*s.options, true), buffer, offset, 10, 0};
    pthread_t thread;
    {
        const Maps maps(s.t, Maps::shared);
        if (pthread_create(&thread, nullptr, read_rounds, &reader) != 0) _exit(3);
    }
    const bool alone = s.t.alone;
    s.t.alone = false;  // the reader frees its stack when it likes
    differential::run_operations(s.t, 12);
    {
        const Maps maps(s.t, Maps::shared);
        pthread_join(thread, nullptr);
    }
    s.t.alone = alone;
    close(reader.file);
    s.t.log.begin("direct_ended", offset);
    s.t.log.result("short", static_cast<uint64_t>(reader.short_reads));
    check_read(s, buffer, offset);
    unmap_buffer(s, buffer);
    s.t.log.end();
}

void event_aio(Self& s) {
    if (!s.features.pins || s.options->data == nullptr) return;
    const long offset = static_cast<long>(s.t.random.below((kDataBytes - kBytes) / kPage) * kPage);
    s.t.log.begin("aio", offset);
    aio_context_t context = 0;
    char* buffer = map_buffer(s);
    const int file = data_file(*s.options, true);
    {
        const Maps maps(s.t, Maps::shared);  // the kernel maps the ring of the context
        s.t.log.call("io_setup", syscall(SYS_io_setup, 4, &context));
    }
    if (context != 0 && buffer != nullptr) {
        iocb one = {};
        one.aio_lio_opcode = IOCB_CMD_PREAD;
        one.aio_fildes = static_cast<uint32_t>(file);
        one.aio_buf = reinterpret_cast<uint64_t>(buffer);
        one.aio_nbytes = kBytes;
        one.aio_offset = offset;
        iocb* list[] = {&one};
        s.t.log.call("io_submit", syscall(SYS_io_submit, context, 1, list));
        if (s.t.random.one_in(2)) {  // while the read may be in flight
            s.t.log.call("mprotect", mprotect(buffer, kPage, PROT_READ));
            s.t.log.call("mprotect", mprotect(buffer, kPage, PROT_READ | PROT_WRITE));
        }
        io_event event = {};
        long got;
        do got = syscall(SYS_io_getevents, context, 1, 1, &event, nullptr);
        while (got == -1 && errno == EINTR);
        s.t.log.call("io_getevents", got);
        s.t.log.result("read", static_cast<uint64_t>(event.res));
        check_read(s, buffer, offset);
    }
    {
        const Maps maps(s.t, Maps::shared);
        if (context != 0) s.t.log.call("io_destroy", syscall(SYS_io_destroy, context));
    }
    close(file);
    if (buffer != nullptr) unmap_buffer(s, buffer);
    s.t.log.end();
}

}  // namespace lives
