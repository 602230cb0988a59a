// map.cpp - mmap and munmap where only the thread's own memory is concerned.
#include <sys/mman.h>

#include "operations.h"

namespace differential {

void op_map(Thread& t) {
    const unsigned area = t.random.below(kAreas);
    const bool big = t.random.one_in(64);
    const unsigned pages = 1 + t.random.below(big ? kMaxPages : 16);
    t.log.begin("map", area, pages);
    drop_area(t, area);
    const bool good = map_area(t, area, pages, any_request(t, false), nullptr);
    if (good) check_page(t, t.areas[area], t.random.below(pages), true);
    t.log.end();
}

void op_unmap(Thread& t) {
    const unsigned area = t.random.below(kAreas);
    t.log.begin("unmap", area);
    drop_area(t, area);
    t.log.end();
}

/// Cuts pages off one end; they are nobody's afterwards and never looked at again.
void op_trim(Thread& t) {
    const Span span = any_span(t);
    Area& area = t.areas[span.area];
    if (area.pages < 2) return;
    const unsigned cut = 1 + t.random.below(area.pages - 1 < 4 ? area.pages - 1 : 4);
    const bool head = t.random.one_in(2);
    t.log.begin("trim", span.area, cut, head);
    t.log.call("munmap", munmap(head ? area.base : area.at(area.pages - cut), cut * kPage - t.random.below(kPage)));
    if (head) {
        for (unsigned i = cut; i < area.pages; ++i) area.page[i - cut] = area.page[i];
        area.base += cut * kPage;
    }
    area.pages -= cut;
    check_page(t, area, 0);
    check_page(t, area, area.pages - 1);
    t.log.end();
}

void op_map_fixed(Thread& t) {
    const Span span = any_span(t);
    if (span.pages() == 0) return;
    Area& area = t.areas[span.area];
    const Request r = any_request(t, true);
    t.log.begin("map_fixed", span.area, span.first, span.end, r.prot);
    void* got = mmap(area.at(span.first), span.pages() * kPage, r.prot, r.flags | MAP_FIXED, r.fd, r.file_page * static_cast<long>(kPage));
    if (t.log.call("mmap", got)) {
        t.log.result("there", got == area.at(span.first));
        set_pages(t, span, r.kind, r.prot);
    }
    if (span.first > 0) check_page(t, area, span.first - 1);
    check_page(t, area, span.first, true);
    if (span.end < area.pages) check_page(t, area, span.end);
    t.log.end();
}

/// Everything is mapped, so MAP_FIXED_NOREPLACE must say EEXIST and change nothing.
void op_no_replace(Thread& t) {
    const Span span = any_span(t);
    if (span.pages() == 0) return;
    const Request r = any_request(t, true);
    t.log.begin("no_replace", span.area, span.first, span.end, r.kind);
    t.log.call("mmap", mmap(t.areas[span.area].at(span.first), span.pages() * kPage, r.prot, r.flags | MAP_FIXED_NOREPLACE, r.fd,
                            r.file_page * static_cast<long>(kPage)));
    check_page(t, t.areas[span.area], span.first);
    t.log.end();
}

/// A hint at memory in use: the mapping goes elsewhere.
void op_hint_taken(Thread& t) {
    const Span span = any_span(t);
    const unsigned area = t.random.below(kAreas);
    if (span.pages() == 0 || area == span.area) return;
    char* hint = t.areas[span.area].at(span.first);
    t.log.begin("hint_taken", span.area, span.first, area);
    drop_area(t, area);
    if (map_area(t, area, span.pages(), any_request(t, false), hint)) {
        t.log.result("at_hint", t.areas[area].base == hint);
        check_page(t, t.areas[area], 0);
    }
    check_page(t, t.areas[span.area], span.first);
    t.log.end();
}

}  // namespace differential
