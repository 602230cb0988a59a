#include "areas.h"

#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

#include "access.h"

namespace differential {
namespace {

bool allowed(const PageState& page, int access) {
    // On x86 what can be written or executed can be read.
    const bool known = page.prot != kUnknownProt && page.kind != kHole;
    return known && (access == PROT_READ ? page.prot != PROT_NONE : (page.prot & PROT_WRITE) != 0);
}

uint64_t mark(char byte) { return static_cast<unsigned char>(byte); }

[[noreturn]] void give_up(Thread& t, const char* why) {
    t.log.end();
    fprintf(stderr, "differential: thread %u, operation %lu: %s\n", t.index, t.log.operations(), why);
    _exit(4);
}

}  // namespace

Span any_span(Thread& t, unsigned limit) {
    const unsigned area = t.random.below(kAreas);
    Area& chosen = t.areas[area];
    if (chosen.pages == 0) {
        t.log.begin("first_map", area);
        map_area(t, area, 1 + t.random.below(16), any_request(t, false), nullptr);
        t.log.end();
    }
    const unsigned pages = chosen.pages, first = pages == 0 ? 0 : t.random.below(pages);
    const unsigned most = pages - first < limit ? pages - first : limit;
    return {area, first, first + (most == 0 ? 0 : 1 + t.random.below(most))};
}

bool uniform_span(Thread& t, unsigned limit, Span* out) {
    *out = any_span(t, limit);
    const Area& area = t.areas[out->area];
    if (out->pages() == 0) return false;
    for (unsigned i = out->first; i < out->end; ++i) {
        const PageState &page = area.page[i], &first = area.page[out->first];
        if (page.epoch != first.epoch || page.kind == kHole || page.prot == kUnknownProt) return false;
    }
    return true;
}

void set_pages(Thread& t, Span span, Kind kind, int prot) {
    ++t.epoch;
    for (unsigned i = span.first; i < span.end; ++i) t.areas[span.area].page[i] = {kind, static_cast<uint8_t>(prot), false, false, t.epoch};
}

void split(Thread& t, Span span) {
    Area& area = t.areas[span.area];
    uint32_t old = 0;
    for (unsigned i = span.first; i < span.end; ++i) {
        PageState& page = area.page[i];
        if (i == span.first || page.epoch != old) ++t.epoch;  // borders that were there stay
        old = page.epoch;
        page.epoch = t.epoch;
    }
}

void set_prot(Thread& t, Span span, int prot) {
    for (unsigned i = span.first; i < span.end; ++i) {
        PageState& page = t.areas[span.area].page[i];
        if (page.kind != kHole) page.prot = static_cast<uint8_t>(prot);
    }
    split(t, span);
}

void check_page(Thread& t, const Area& area, unsigned index, bool whole) {
    const PageState& page = area.page[index];
    if (page.undefined || (!t.options->faults && !allowed(page, PROT_READ))) return;
    if (page.kind == kHole && !t.options->hole_faults) return;
    t.log.result("read", whole ? read_whole_page(area.at(index)) : read_page(area.at(index)));
}

void write_one(Thread& t, Area& area, unsigned index) {
    PageState& page = area.page[index];
    const uint64_t value = t.random.next();
    if (!t.options->faults && !allowed(page, PROT_WRITE)) return;
    if (page.kind == kHole && !t.options->hole_faults) return;
    const int signal = write_page(area.at(index), value, page.undefined);
    t.log.result("write", static_cast<uint64_t>(signal));
    if (signal == 0) page.undefined = false, page.touched = true;
}

void probe_faults(Thread& t, const Area& area, unsigned index) {
    if (!t.options->faults || (area.page[index].kind == kHole && !t.options->hole_faults)) return;
    t.log.result("faults", static_cast<uint64_t>(try_read(area.at(index)) | try_write(area.at(index)) << 8));
}

void check_everything(Thread& t) {
    t.log.begin("check_everything");
    for (const Area& area : t.areas)
        for (unsigned i = 0; i < area.pages; ++i)
            if (area.page[i].touched) check_page(t, area, i);
    for (const Block& block : t.blocks)
        if (block.at != nullptr) t.log.result("block", mark(block.at[0]) | mark(block.at[block.bytes - 1]) << 8);
    t.log.end();
}

Request any_request(Thread& t, bool over_memory) {
    static const int kProts[] = {PROT_READ | PROT_WRITE,
                                 PROT_READ | PROT_WRITE,
                                 PROT_READ | PROT_WRITE,
                                 PROT_READ | PROT_WRITE,
                                 PROT_READ,
                                 PROT_NONE,
                                 PROT_READ | PROT_EXEC,
                                 PROT_READ | PROT_WRITE | PROT_EXEC};
    static const int kExtra[] = {0, 0, 0, 0, MAP_NORESERVE, MAP_POPULATE, MAP_STACK, MAP_NORESERVE | MAP_POPULATE};
    static const Kind kKinds[] = {kPrivate, kPrivate, kPrivate, kPrivate, kPrivate, kShared, kFilePrivate, kFileShared};
    Request r = {t.options->foreign || !over_memory ? t.random.of(kKinds) : kPrivate, t.random.of(kProts), t.random.of(kExtra), -1, 0};
    if (r.kind == kFilePrivate || r.kind == kFileShared) {
        r.flags |= r.kind == kFileShared ? MAP_SHARED : MAP_PRIVATE;
        r.fd = t.random.one_in(8) ? t.file_read_only : t.file;
        r.file_page = t.random.below(kFilePages + 2);
    } else {
        r.flags |= MAP_ANONYMOUS | (r.kind == kShared ? MAP_SHARED : MAP_PRIVATE);
    }
    return r;
}

bool map_area(Thread& t, unsigned index, unsigned pages, const Request& r, char* hint) {
    Area& area = t.areas[index];
    void* got = mmap(hint, pages * kPage, r.prot, r.flags, r.fd, r.file_page * static_cast<long>(kPage));
    t.log.result("kind", r.kind);
    if (!t.log.call("mmap", got)) return false;
    area.base = static_cast<char*>(got);
    area.pages = pages;
    t.log.result("aligned", reinterpret_cast<uintptr_t>(got) % kPage);
    set_pages(t, {index, 0, pages}, r.kind, r.prot);
    return true;
}

void drop_area(Thread& t, unsigned index) {
    Area& area = t.areas[index];
    if (area.pages == 0) return;
    t.log.call("munmap", munmap(area.base, area.pages * kPage));
    area.pages = 0;
}

void fill_holes(Thread& t, unsigned index) {
    Area& area = t.areas[index];
    for (unsigned i = 0; i < area.pages;) {
        if (area.page[i].kind != kHole) {
            ++i;
            continue;
        }
        unsigned end = i;
        while (end < area.pages && area.page[end].kind == kHole) ++end;
        const size_t bytes = (end - i) * kPage;
        Request r = any_request(t, true);
        const int fixed = t.random.one_in(2) ? MAP_FIXED : MAP_FIXED_NOREPLACE;
        void* got = mmap(area.at(i), bytes, r.prot, r.flags | fixed, r.fd, r.file_page * static_cast<long>(kPage));
        if (!t.log.call("fill", got)) {  // a read-only file, shared for writing: then plain memory
            r = {kPrivate, PROT_NONE, 0, -1, 0};
            got = mmap(area.at(i), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            t.log.call("reserve", got);
        }
        t.log.result("there", got == area.at(i));
        if (got != area.at(i)) give_up(t, "a hole of its own could not be filled again");
        set_pages(t, {index, i, end}, r.kind, r.prot);
        i = end;
    }
}

}  // namespace differential
