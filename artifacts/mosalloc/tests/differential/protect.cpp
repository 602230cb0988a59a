// protect.cpp - mprotect, madvise, mincore, msync, mlock.
#include <sys/mman.h>

#include "operations.h"

namespace differential {
namespace {

constexpr int kProts[] = {
    PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC, PROT_READ | PROT_WRITE | PROT_EXEC,
    PROT_WRITE};
// Left out: COLLAPSE and PAGEOUT (depend on addresses and on what else the machine does), DONTFORK (its holes in the
// child would have no right answer there).
constexpr int kAdvice[] = {MADV_DONTNEED,
                           MADV_DONTNEED,
                           MADV_DONTNEED,
                           MADV_FREE,
                           MADV_WILLNEED,
                           MADV_SEQUENTIAL,
                           MADV_RANDOM,
                           MADV_NORMAL,
                           MADV_REMOVE,
                           MADV_DOFORK,
                           MADV_MERGEABLE,
                           MADV_UNMERGEABLE,
                           MADV_HUGEPAGE,
                           MADV_NOHUGEPAGE,
                           MADV_DONTDUMP,
                           MADV_DODUMP,
                           20 /* COLD */,
                           22 /* POPULATE_READ */,
                           23 /* POPULATE_WRITE */,
                           24 /* DONTNEED_LOCKED */,
                           77,
                           -1};

char* start(Thread& t, Span span) { return t.areas[span.area].at(span.first); }

/// A length in bytes that means these pages: the kernel rounds up.
size_t bytes(Thread& t, Span span) { return span.pages() * kPage - (t.random.one_in(4) ? t.random.below(kPage) : 0); }

void check_ends(Thread& t, Span span) {
    const Area& area = t.areas[span.area];
    if (span.first > 0) check_page(t, area, span.first - 1);
    check_page(t, area, span.first);
    check_page(t, area, span.end - 1);
    if (span.end < area.pages) check_page(t, area, span.end);
}

}  // namespace

void call_protect(Thread& t, Span span, int prot) {
    t.log.result("prot", static_cast<uint64_t>(prot));
    const bool good = t.log.call("mprotect", mprotect(start(t, span), bytes(t, span), prot));
    set_prot(t, span, good ? prot : kUnknownProt);
}

void call_advise(Thread& t, Span span, int advice) {
    t.log.result("advice", static_cast<uint64_t>(advice));
    const bool good = t.log.call("madvise", madvise(start(t, span), bytes(t, span), advice));
    for (unsigned i = span.first; i < span.end; ++i) {
        PageState& page = t.areas[span.area].page[i];
        const bool drops = good && (advice == MADV_DONTNEED || advice == 24);
        page.undefined = (page.undefined && !drops) || (advice == MADV_FREE && page.kind == kPrivate);
    }
    split(t, span);
}

void call_mincore(Thread& t, Span span) {
    unsigned char vector[kMaxPages];
    t.log.call("mincore", mincore(start(t, span), bytes(t, span), vector));
}

void call_msync(Thread& t, Span span) {
    static const int kFlags[] = {MS_ASYNC, MS_SYNC, MS_ASYNC | MS_INVALIDATE, 0, MS_ASYNC | MS_SYNC, 64};
    t.log.call("msync", msync(start(t, span), bytes(t, span), t.random.of(kFlags)));
}

/// Unlocked again at once: how much may be locked is a limit of the whole process.
void call_lock(Thread& t, Span span) {
    t.log.call("mlock", mlock(start(t, span), bytes(t, span)));
    if (t.random.one_in(2)) t.log.call("locked", madvise(start(t, span), bytes(t, span), MADV_DONTNEED));
    t.log.call("munlock", munlock(start(t, span), bytes(t, span)));
    split(t, span);
}

void op_protect(Thread& t) {
    const Span span = any_span(t);
    if (span.pages() == 0) return;
    t.log.begin("protect", span.area, span.first, span.end);
    call_protect(t, span, t.random.of(kProts));
    check_ends(t, span);
    probe_faults(t, t.areas[span.area], span.first);
    t.log.end();
}

void op_advise(Thread& t) {
    const Span span = any_span(t);
    if (span.pages() == 0) return;
    t.log.begin("advise", span.area, span.first, span.end);
    call_advise(t, span, t.random.of(kAdvice));
    check_ends(t, span);
    t.log.end();
}

void op_mincore(Thread& t) {
    const Span span = any_span(t);
    if (span.pages() == 0) return;
    t.log.begin("mincore", span.area, span.first, span.end);
    call_mincore(t, span);
    t.log.end();
}

void op_msync(Thread& t) {
    const Span span = any_span(t);
    if (span.pages() == 0) return;
    t.log.begin("msync", span.area, span.first, span.end);
    call_msync(t, span);
    t.log.end();
}

void op_lock(Thread& t) {
    const Span span = any_span(t, 4);
    if (span.pages() == 0 || !t.options->locks) return;
    t.log.begin("lock", span.area, span.first, span.end);
    call_lock(t, span);
    check_ends(t, span);
    t.log.end();
}

}  // namespace differential
