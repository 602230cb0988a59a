// remap.cpp - mremap of memory that one call made.
#include <sys/mman.h>

#include "operations.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

namespace differential {
namespace {

/// A random area that is uniform as a whole.
bool uniform_area(Thread& t, unsigned* out) {
    const Span span = any_span(t);
    const Area& area = t.areas[span.area];
    for (unsigned i = 0; i < area.pages; ++i)
        if (area.page[i].epoch != area.page[0].epoch || area.page[i].prot == kUnknownProt) return false;
    *out = span.area;
    return area.pages != 0;
}

/// The target's pages become what the source's are; what growth adds has no history.
void copy_states(Thread& t, const PageState* from, unsigned pages, Span to) {
    const PageState first = from[0];
    ++t.epoch;
    Area& area = t.areas[to.area];
    for (unsigned i = 0; i < to.pages(); ++i) {
        PageState& page = area.page[to.first + i];
        page = i < pages ? from[i] : PageState{first.kind, first.prot, false, false, 0};
        page.epoch = t.epoch;
    }
}

}  // namespace

/// Grow or shrink a whole area; where it ends up is not compared.
void op_resize(Thread& t) {
    unsigned index;
    if (!uniform_area(t, &index)) return;
    Area& area = t.areas[index];
    const unsigned old_pages = area.pages, pages = 1 + t.random.below(old_pages < 20 ? 2 * old_pages + 4 : 24);
    const int flags = pages > old_pages || t.random.one_in(2) ? MREMAP_MAYMOVE : 0;
    t.log.begin("resize", index, old_pages, pages, flags);
    char* old = area.base;
    void* got = mremap(old, old_pages * kPage, pages * kPage, flags);
    if (t.log.call("mremap", got)) {
        if (pages <= old_pages) t.log.result("in_place", got == old);
        area.base = static_cast<char*>(got);
        area.pages = pages;
        if (pages > old_pages) {
            const Kind kind = area.page[0].kind;
            const uint8_t prot = area.page[0].prot;
            for (unsigned i = old_pages; i < pages; ++i) area.page[i] = {kind, prot, false, false, area.page[0].epoch};
        }
    }
    for (unsigned i = area.pages < 4 ? 0 : area.pages - 4; i < area.pages; ++i) check_page(t, area, i);
    check_page(t, area, 0);
    if (t.random.one_in(3)) write_one(t, area, area.pages - 1);
    t.log.end();
}

/// MREMAP_FIXED of a part of one area over a part of another or of the same one; it may grow or shrink on the way.
void op_move_onto(Thread& t) {
    Span from;
    if (!uniform_span(t, 6, &from)) return;
    const Span to = any_span(t, 8);
    if (to.pages() == 0) return;
    const bool apart = from.area != to.area || from.end <= to.first || to.end <= from.first;
    if (!apart && t.random.one_in(2)) return;
    Area& source = t.areas[from.area];
    int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    if (to.pages() == from.pages() && t.random.one_in(2)) flags |= MREMAP_DONTUNMAP;
    t.log.begin("move_onto", from.area * 1000 + from.first, from.pages(), to.area * 1000 + to.first, to.pages());
    t.log.result("flags", static_cast<uint64_t>(flags));
    void* got = mremap(source.at(from.first), from.pages() * kPage, to.pages() * kPage, flags, t.areas[to.area].at(to.first));
    if (t.log.call("mremap", got)) {
        t.log.result("there", got == t.areas[to.area].at(to.first));
        copy_states(t, &source.page[from.first], from.pages(), to);
        const Kind kind = (flags & MREMAP_DONTUNMAP) != 0 ? source.page[from.first].kind : kHole;
        set_pages(t, from, kind, source.page[from.first].prot);
    }
    fill_holes(t, from.area);
    for (unsigned i = to.first; i < to.end; ++i) check_page(t, t.areas[to.area], i, i == to.first);
    for (unsigned i = from.first; i < from.end; ++i) check_page(t, source, i);
    t.log.end();
}

/// MREMAP_DONTUNMAP to wherever there is room: the old pages stay mapped and read as new.
void op_keep_old(Thread& t) {
    Span from;
    const unsigned index = t.random.below(kAreas);
    if (!uniform_span(t, 8, &from) || from.area == index) return;
    t.log.begin("keep_old", from.area, from.first, from.end, index);
    drop_area(t, index);
    Area &source = t.areas[from.area], &target = t.areas[index];
    const size_t bytes = from.pages() * kPage;
    void* got = mremap(source.at(from.first), bytes, bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, nullptr);
    if (t.log.call("mremap", got)) {
        target.base = static_cast<char*>(got);
        target.pages = from.pages();
        copy_states(t, &source.page[from.first], from.pages(), {index, 0, from.pages()});
        set_pages(t, from, source.page[from.first].kind, source.page[from.first].prot);
        for (unsigned i = 0; i < target.pages; ++i) check_page(t, target, i);
    }
    for (unsigned i = from.first; i < from.end; ++i) check_page(t, source, i);
    t.log.end();
}

/// Old size 0: a second mapping of shared memory; of private memory EINVAL.
void op_duplicate(Thread& t) {
    Span from;
    const unsigned index = t.random.below(kAreas);
    if (!uniform_span(t, 8, &from) || from.area == index) return;
    t.log.begin("duplicate", from.area, from.first, from.end, index);
    drop_area(t, index);
    Area &source = t.areas[from.area], &target = t.areas[index];
    void* got = mremap(source.at(from.first), 0, from.pages() * kPage, MREMAP_MAYMOVE);
    if (t.log.call("mremap", got)) {
        target.base = static_cast<char*>(got);
        target.pages = from.pages();
        copy_states(t, &source.page[from.first], from.pages(), {index, 0, from.pages()});
        write_one(t, target, target.pages - 1);
        for (unsigned i = from.first; i < from.end; ++i) check_page(t, source, i);
    }
    t.log.end();
}

}  // namespace differential
