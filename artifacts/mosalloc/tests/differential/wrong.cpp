// wrong.cpp - wrong arguments: calls must fail with the right errno and must not change memory.
#include <cstdlib>
#include <sys/mman.h>

#include "operations.h"

namespace differential {
namespace {

constexpr int kPlain = MAP_PRIVATE | MAP_ANONYMOUS, kReadWrite = PROT_READ | PROT_WRITE;
constexpr long kOnePage = static_cast<long>(kPage);
constexpr size_t kHuge = size_t{1} << 46, kWraps = ~size_t{0} - 8 * kPage;

/// A mapping that should not exist; if the call succeeds after all, it goes away again.
void try_map(Thread& t, const char* what, void* at, size_t bytes, int prot, int flags, int fd, long offset) {
    void* got = mmap(at, bytes, prot, flags, fd, offset);
    if (t.log.call(what, got)) munmap(got, bytes);
}

}  // namespace

void op_wrong_map(Thread& t) {
    const Span span = any_span(t, 3);
    if (span.pages() == 0) return;
    char* at = t.areas[span.area].at(span.first);
    const unsigned choice = t.random.below(16);
    t.log.begin("wrong_map", span.area, span.first, choice);
    switch (choice) {
        case 0: try_map(t, "zero", nullptr, 0, kReadWrite, kPlain, -1, 0); break;
        case 1: try_map(t, "huge", nullptr, kHuge, kReadWrite, kPlain, -1, 0); break;
        case 2: try_map(t, "wraps", nullptr, kWraps, kReadWrite, kPlain, -1, 0); break;
        case 3: try_map(t, "all", nullptr, ~size_t{0}, kReadWrite, kPlain, -1, 0); break;
        case 4: try_map(t, "no_type", nullptr, kPage, kReadWrite, MAP_ANONYMOUS, -1, 0); break;
        case 5: try_map(t, "unaligned", at + 1, kPage, kReadWrite, kPlain | MAP_FIXED, -1, 0); break;
        case 6: try_map(t, "unaligned", at + 16, kPage, kReadWrite, kPlain | MAP_FIXED_NOREPLACE, -1, 0); break;
        case 7: try_map(t, "bad_fd", nullptr, kPage, kReadWrite, MAP_PRIVATE, -1, 0); break;
        case 8: try_map(t, "bad_fd", nullptr, kPage, kReadWrite, MAP_SHARED, 987654, 0); break;
        case 9: try_map(t, "offset", nullptr, kPage, kReadWrite, MAP_PRIVATE, t.file, 100); break;
        case 10: try_map(t, "offset", nullptr, kPage, kReadWrite, kPlain, -1, 100); break;
        case 11: try_map(t, "negative", nullptr, kPage, kReadWrite, MAP_PRIVATE, t.file, -kOnePage); break;
        case 12: try_map(t, "flags", nullptr, kPage, kReadWrite, MAP_SHARED_VALIDATE | 0x8000000, t.file, 0); break;
        case 13: try_map(t, "fd_unused", nullptr, kPage, kReadWrite, kPlain, 987654, 0); break;
        case 14: try_map(t, "offset_unused", nullptr, kPage, kReadWrite, kPlain, -1, 7 * kOnePage); break;
        default: try_map(t, "prot", nullptr, kPage, kReadWrite | 0x40, kPlain, -1, 0);
    }
    if (choice == 5) {  // a fixed mapping that was not refused would have replaced this
        void* const far = reinterpret_cast<void*>(~size_t{0} - 8 * kPage + 1);
        try_map(t, "far", far, kPage, kReadWrite, kPlain | MAP_FIXED, -1, 0);
    }
    check_page(t, t.areas[span.area], span.first);
    t.log.end();
}

void op_wrong_range(Thread& t) {
    const Span span = any_span(t, 3);
    if (span.pages() == 0) return;
    char* at = t.areas[span.area].at(span.first);
    static const size_t kLengths[] = {0, 1, kPage, kWraps, ~size_t{0}};
    const size_t bytes = t.random.of(kLengths);
    const bool unaligned = (bytes == 1 || bytes == kPage) || t.random.one_in(2);
    char* from = unaligned ? at + 1 + t.random.below(kPage - 1) : at;
    const unsigned choice = t.random.below(12);
    t.log.begin("wrong_range", static_cast<long>(bytes), unaligned, choice);
    unsigned char vector[2];
    switch (choice) {
        case 0: t.log.call("munmap", munmap(from, bytes)); break;
        case 1: t.log.call("mprotect", mprotect(from, bytes, kReadWrite)); break;
        case 2: t.log.call("madvise", madvise(from, bytes, MADV_DONTNEED)); break;
        case 3: t.log.call("mincore", mincore(from, bytes, vector)); break;
        case 4: t.log.call("msync", msync(from, bytes, MS_ASYNC)); break;
        case 5: t.log.call("mprotect", mprotect(at, kPage, 0x40)); break;
        case 6: t.log.call("mprotect", mprotect(at, kPage, PROT_READ | 0x01000000 /* PROT_GROWSDOWN */)); break;
        case 7: t.log.call("madvise", madvise(at, 0, MADV_DONTNEED)); break;
        case 8: t.log.call("madvise", madvise(at, 0, 77)); break;
        case 9: t.log.call("mprotect", mprotect(at, 0, PROT_NONE)); break;
        case 10: t.log.call("mincore", mincore(at, kPage, nullptr)); break;
        default: t.log.call("munmap", munmap(reinterpret_cast<void*>(uint64_t{1} << 62), kPage));
    }
    // With a length that wraps, mprotect may not have changed a page, and with 0 nothing at all.
    check_page(t, t.areas[span.area], span.first);
    probe_faults(t, t.areas[span.area], span.first);
    t.log.end();
}

void op_wrong_remap(Thread& t) {
    Span span;
    if (!uniform_span(t, 3, &span)) return;
    char* at = t.areas[span.area].at(span.first);
    const size_t bytes = span.pages() * kPage;
    const unsigned choice = t.random.below(11);
    t.log.begin("wrong_remap", span.area, span.first, span.pages(), choice);
    void* got = MAP_FAILED;
    switch (choice) {
        case 0: got = mremap(at + 1, bytes, bytes, MREMAP_MAYMOVE); break;
        case 1: got = mremap(at, bytes, 0, MREMAP_MAYMOVE); break;
        case 2: got = mremap(at, bytes, kWraps, MREMAP_MAYMOVE); break;
        case 3: got = mremap(at, bytes, bytes, 64); break;
        case 4: got = mremap(at, bytes, bytes, MREMAP_FIXED, at); break;
        case 5: got = mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at); break;
        case 6: got = mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at + 8); break;
        case 7: got = mremap(at, bytes, bytes, 4 /* DONTUNMAP without MAYMOVE */); break;
        case 8: got = mremap(at, bytes, bytes + kPage, MREMAP_MAYMOVE | 4); break;
        case 9: got = mremap(reinterpret_cast<void*>(uint64_t{1} << 62), bytes, bytes, MREMAP_MAYMOVE); break;
        default: got = mremap(at, bytes, kHuge, 0);
    }
    t.log.call("mremap", got);
    for (unsigned i = span.first; i < span.end; ++i) check_page(t, t.areas[span.area], i);
    t.log.end();
}

void op_wrong_malloc(Thread& t) {
    const unsigned choice = t.random.below(5);
    t.log.begin("wrong_malloc", choice);
    volatile size_t huge = ~size_t{0} / 2, many = size_t{1} << 40;  // volatile: the compiler would warn
    void* got = nullptr;
    errno = 0;
    switch (choice) {
        case 0: got = malloc(huge); break;
        case 1: got = calloc(many, many); break;
        case 2: t.log.result("posix_memalign", static_cast<uint64_t>(posix_memalign(&got, 24, 100))); break;
        case 3: got = malloc(kHuge); break;
        default: t.log.result("posix_memalign", static_cast<uint64_t>(posix_memalign(&got, 64, huge)));
    }
    t.log.result("null", got == nullptr);
    if (choice != 2 && choice != 4) t.log.result("errno", static_cast<uint64_t>(errno));
    free(got);
    t.log.end();
}

}  // namespace differential
