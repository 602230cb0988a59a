// pins.cpp - an io_uring reads into its registered buffer before and after everything else that a life does.
#include "pins.h"

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "events.h"

namespace lives {
namespace {

constexpr size_t kBytes = kPinnedPages * kPage;

void open_buffer(Self& s) {
    Pinned& p = *s.pinned;
    s.t.log.begin("pin");
    const Maps maps(s.t, Maps::shared);
    void* got = mmap(nullptr, kBytes + 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s.t.log.call("mmap", got)) {
        p.base = static_cast<char*>(got);
        s.t.random.next();
        for (size_t i = 0; i < kBytes; ++i) p.shadow[i] = static_cast<char>(i * 7 + i / kPage);
        memcpy(p.buffer(), p.shadow, kBytes);
        const bool opened = p.ring.open();
        // What all processes of a user pin together is limited, and a part of a huge page counts as all of it.
        if (opened && p.ring.pin(p.buffer(), kBytes) < 0) p.ring.close();
    }
    s.t.log.end();
}

/// Reads what the file has at a random place into a random part; both must be the same afterwards.
void read_into(Self& s, int file) {
    Pinned& p = *s.pinned;
    const size_t at = s.t.random.below(kBytes - 1), bytes = 1 + s.t.random.below(static_cast<unsigned>(kBytes - at));
    const uint64_t offset = s.t.random.below(kDataBytes - static_cast<unsigned>(kBytes));
    s.t.log.begin("pin_read", static_cast<long>(at), static_cast<long>(bytes));
    const auto from = static_cast<off_t>(offset);
    const long got = p.ring.is_open() ? p.ring.read_fixed(file, p.buffer() + at, bytes, offset) : pread(file, p.buffer() + at, bytes, from);
    s.t.log.result("read", static_cast<uint64_t>(got));
    s.t.log.result("pread", static_cast<uint64_t>(pread(file, p.shadow + at, bytes, from)));
    compare(s, p.buffer(), p.shadow, kBytes);
    s.t.log.end();
}

/// 4KB beside the buffer, in the same huge page: without pins, this would split it.
void protect_beside(Self& s) {
    static const int kProts[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
    Pinned& p = *s.pinned;
    const int prot = s.t.random.of(kProts);
    char* page = s.t.random.one_in(2) ? p.base : p.buffer() + kBytes;
    s.t.log.begin("pin_beside", prot);
    s.t.log.call("mprotect", mprotect(page, kPage, prot));
    s.t.log.end();
}

void write_into(Self& s) {
    Pinned& p = *s.pinned;
    const size_t at = s.t.random.below(kBytes);
    s.t.log.begin("pin_write", static_cast<long>(at));
    p.buffer()[at] = p.shadow[at] = static_cast<char>(s.t.random.next());
    s.t.log.end();
}

void close_buffer(Self& s) {
    Pinned& p = *s.pinned;
    s.t.log.begin("unpin");
    const Maps maps(s.t, Maps::shared);
    compare(s, p.buffer(), p.shadow, kBytes);
    p.ring.close();
    s.t.log.call("munmap", munmap(p.base, kBytes + 2 * kPage));
    p.base = nullptr;
    s.t.log.end();
}

}  // namespace

int data_file(const Options& options, bool direct) {
    const int fd = open(options.data, O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
    return fd < 0 && direct ? open(options.data, O_RDONLY | O_CLOEXEC) : fd;
}

void compare(Self& s, const char* at, const char* expected, size_t bytes) {
    uint64_t wrong = 0;
    if (memcmp(at, expected, bytes) != 0)
        for (size_t i = 0; i < bytes; ++i) wrong += at[i] != expected[i];
    s.t.log.result("wrong_bytes", wrong);
}

void leave_ring(Self& s) {
    if (s.pinned != nullptr) s.pinned->ring.forget();
}

void check_pinned(Self& s) {
    if (s.pinned == nullptr || s.pinned->base == nullptr) return;
    s.t.log.begin("check_pinned");
    compare(s, s.pinned->buffer(), s.pinned->shadow, kBytes);
    s.t.log.end();
}

void event_pin(Self& s) {
    if (!s.features.pins || s.options->data == nullptr) return;
    if (s.pinned->base == nullptr) open_buffer(s);
    if (s.pinned->base == nullptr) return;
    const int file = data_file(*s.options, false);
    for (unsigned steps = 1 + s.t.random.below(6); steps > 0; --steps) {
        const unsigned choice = s.t.random.below(8);
        if (choice < 4) read_into(s, file);
        else if (choice < 6) protect_beside(s);
        else write_into(s);
    }
    close(file);
    if (s.t.random.one_in(8)) close_buffer(s);
}

}  // namespace lives
