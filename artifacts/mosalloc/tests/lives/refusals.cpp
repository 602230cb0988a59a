// refusals.cpp - calls that a huge page may refuse while it has to stay whole: a file over a part of it, and a part of it
// moved away. Whether they are refused is not compared, but a refused call must have changed nothing.
#include <cstring>
#include <sys/mman.h>

#include "access.h"
#include "events.h"

namespace lives {
namespace {

constexpr unsigned kPages = 24;
constexpr int kReadWrite = PROT_READ | PROT_WRITE, kPlain = MAP_PRIVATE | MAP_ANONYMOUS;

/// A number that no other page of this memory has.
uint64_t mark_of(unsigned page) { return 0x1000 + page; }

uint64_t* words(char* base, unsigned page) { return reinterpret_cast<uint64_t*>(base + page * kPage); }

unsigned wrong_pages(char* base, unsigned without) {
    unsigned wrong = 0;
    for (unsigned i = 0; i < kPages; ++i) wrong += i != without && *words(base, i) != mark_of(i);
    return wrong;
}

/// The page is `at` now, or there is a file in its place.
void map_file_over(Self& s, char* base, unsigned page) {
    char* at = base + page * kPage;
    const bool mapped = mmap(at, kPage, kReadWrite, MAP_PRIVATE | MAP_FIXED, s.t.file, 0) == at;
    s.t.log.result("as_it_was", mapped || *words(base, page) == mark_of(page));
}

void move_away(Self& s, char* base, unsigned page) {
    void* place = mmap(nullptr, kPage, kReadWrite, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!s.t.log.call("shared", place)) return;
    *static_cast<uint64_t*>(place) = mark_of(page);
    char* at = base + page * kPage;
    const bool moved = mremap(place, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at;
    s.t.log.result("as_it_was", *words(base, page) == mark_of(page));
    if (!moved) munmap(place, kPage);
}

}  // namespace

void event_refusal(Self& s) {
    s.t.log.begin("refusal");
    const Maps maps(s.t, Maps::shared);
    void* got = mmap(nullptr, kPages * kPage, kReadWrite, kPlain, -1, 0);
    if (s.t.log.call("mmap", got)) {
        char* base = static_cast<char*>(got);
        for (unsigned i = 0; i < kPages; ++i) *words(base, i) = mark_of(i);
        const unsigned page = 1 + s.t.random.below(kPages - 2);
        if (s.t.random.one_in(2)) map_file_over(s, base, page);
        else move_away(s, base, page);
        s.t.log.result("others_wrong", wrong_pages(base, page));
        char* at = base + page * kPage;
        s.t.log.result("again", mmap(at, kPage, kReadWrite, kPlain | MAP_FIXED, -1, 0) == at);
        s.t.log.result("read", differential::read_whole_page(at));
        s.t.log.result("others_wrong", wrong_pages(base, page));
        s.t.log.call("munmap", munmap(base, kPages * kPage));
    }
    s.t.log.end();
}

}  // namespace lives
