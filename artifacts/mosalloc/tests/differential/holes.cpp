// holes.cpp - makes holes in an area, makes all calls on them, and closes them again. No other thread may map memory
// during this time, because the kernel could place it in the hole.
#include <sys/mman.h>

#include "operations.h"

namespace differential {
namespace {

char* start(Thread& t, Span span) { return t.areas[span.area].at(span.first); }

Span part_of(Thread& t, unsigned area) {
    const unsigned pages = t.areas[area].pages, first = t.random.below(pages);
    const unsigned most = pages - first < 8 ? pages - first : 8;
    return {area, first, first + 1 + t.random.below(most)};
}

void dig(Thread& t, Span span) {
    t.log.result("dig", span.first * 1000u + span.end);
    if (t.log.call("munmap", munmap(start(t, span), span.pages() * kPage))) set_pages(t, span, kHole, PROT_NONE);
}

bool all_holes(Thread& t, Span span) {
    for (unsigned i = span.first; i < span.end; ++i)
        if (t.areas[span.area].page[i].kind != kHole) return false;
    return true;
}

void adopt(Thread& t, Span span, const void* got, const Request& r) {
    t.log.result("there", got == start(t, span));
    if (got == start(t, span)) set_pages(t, span, r.kind, r.prot);
    else if (got != MAP_FAILED) t.log.call("undo", munmap(const_cast<void*>(got), span.pages() * kPage));
}

void map_into(Thread& t, Span span, int fixed) {
    const Request r = any_request(t, true);
    const void* got = mmap(start(t, span), span.pages() * kPage, r.prot, r.flags | fixed, r.fd, r.file_page * static_cast<long>(kPage));
    t.log.call("mmap", got);
    adopt(t, span, got, r);
}

/// Growing in place works exactly as far as the hole behind reaches.
void grow_into(Thread& t, unsigned index) {
    Area& area = t.areas[index];
    unsigned end = 1;
    while (end < area.pages && !(area.page[end].kind == kHole && area.page[end - 1].kind != kHole)) ++end;
    if (end >= area.pages || area.page[end - 1].prot == kUnknownProt) return;
    unsigned first = end - 1, room = end;
    while (first > 0 && area.page[first - 1].epoch == area.page[end - 1].epoch) --first;
    while (room < area.pages && area.page[room].kind == kHole) ++room;
    // Beyond the area lies memory that is not ours: growth must end inside it.
    const unsigned wanted = end + 1 + t.random.below(area.pages - end);
    t.log.result("grow", first * 1000000u + end * 1000u + wanted);
    void* got = mremap(area.at(first), (end - first) * kPage, (wanted - first) * kPage, 0);
    t.log.result("fits", wanted <= room);
    if (!t.log.call("mremap", got)) return;
    t.log.result("there", got == area.at(first));
    const PageState last = area.page[end - 1];
    for (unsigned i = end; i < wanted; ++i) area.page[i] = {last.kind, last.prot, false, false, last.epoch};
    for (unsigned i = end; i < wanted; ++i) check_page(t, area, i);
}

void probe(Thread& t, unsigned index) {
    static const int kAdvice[] = {MADV_DONTNEED, MADV_WILLNEED, MADV_NORMAL, MADV_RANDOM, MADV_HUGEPAGE, MADV_FREE, 23};
    static const int kProts[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
    const Span span = part_of(t, index);
    const unsigned choice = t.random.below(14);
    t.log.result("probe", choice * 1000000u + span.first * 1000u + span.end);
    switch (choice) {
        case 0: call_protect(t, span, t.random.of(kProts)); break;
        case 1: call_advise(t, span, t.random.of(kAdvice)); break;
        case 2: call_mincore(t, span); break;
        case 3: call_msync(t, span); break;
        case 4:
            if (t.options->locks) call_lock(t, span);
            break;
        case 5: probe_faults(t, t.areas[index], span.first); break;
        case 6: write_one(t, t.areas[index], span.first); break;
        case 7: dig(t, span); break;
        case 8: map_into(t, span, MAP_FIXED); break;
        case 9: map_into(t, span, MAP_FIXED_NOREPLACE); break;
        case 10:
            if (all_holes(t, span)) map_into(t, span, 0);
            break;
        case 11: grow_into(t, index); break;
        case 12:
            if (t.areas[index].page[span.first].kind == kHole)
                t.log.call("mremap", mremap(start(t, span), span.pages() * kPage, 2 * kPage, MREMAP_MAYMOVE));
            break;
        default:
            for (unsigned i = span.first; i < span.end; ++i) check_page(t, t.areas[index], i);
    }
}

}  // namespace

void op_holes(Thread& t) {
    const Span span = any_span(t);
    if (span.pages() == 0) return;
    t.log.begin("holes", span.area, span.first, span.end, t.areas[span.area].pages);
    dig(t, span);
    for (unsigned probes = 1 + t.random.below(6); probes > 0; --probes) probe(t, span.area);
    fill_holes(t, span.area);
    for (unsigned i = span.first; i < span.end; ++i) check_page(t, t.areas[span.area], i);
    t.log.end();
}

}  // namespace differential
