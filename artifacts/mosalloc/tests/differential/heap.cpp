// heap.cpp - brk and sbrk. malloc moves the same break, so each operation puts it back where it was.
#include <sys/mman.h>
#include <unistd.h>

#include "access.h"
#include "operations.h"

namespace differential {
namespace {

void use_heap(Thread& t, char* from, size_t bytes) {
    char* first = from + (kPage - reinterpret_cast<uintptr_t>(from) % kPage) % kPage;  // first whole page
    if (first + kPage > from + bytes) return;
    t.log.result("zero", read_whole_page(first));
    t.log.result("write", static_cast<uint64_t>(write_page(first, t.random.next(), true)));
    t.log.result("read", read_page(first));
    switch (t.random.below(4)) {
        case 0: t.log.call("madvise", madvise(first, kPage, MADV_DONTNEED)); break;
        case 1:
            t.log.call("mprotect", mprotect(first, kPage, PROT_READ));
            if (t.options->faults) t.log.result("faults", static_cast<uint64_t>(try_write(first)));
            t.log.call("mprotect", mprotect(first, kPage, PROT_READ | PROT_WRITE));
            break;
        case 2: {
            unsigned char vector[1];
            t.log.call("mincore", mincore(first, kPage, vector));
            break;
        }
        default: break;
    }
    t.log.result("read", read_page(first));
}

}  // namespace

void op_break(Thread& t) {
    char* old = static_cast<char*>(sbrk(0));
    const size_t bytes = t.random.below(t.random.one_in(8) ? 300 * kPage : 6 * kPage);
    t.log.begin("break", static_cast<long>(bytes));
    const void* got = sbrk(static_cast<intptr_t>(bytes));
    if (t.log.call("sbrk", got)) {
        t.log.result("at_old", got == old);
        t.log.result("moved", static_cast<uint64_t>(static_cast<char*>(sbrk(0)) - old));
        use_heap(t, old, bytes);
    }
    if (t.random.one_in(4)) t.log.call("brk_far", brk(old + (uint64_t{1} << 46)));
    if (t.random.one_in(4)) t.log.call("sbrk_far", sbrk(intptr_t{1} << 46));
    if (t.random.one_in(4)) t.log.call("brk_low", brk(reinterpret_cast<void*>(kPage)));
    if (t.random.one_in(2)) t.log.call("brk", brk(old));
    else t.log.call("sbrk_back", sbrk(old - static_cast<char*>(sbrk(0))));
    t.log.result("back", static_cast<uint64_t>(static_cast<char*>(sbrk(0)) - old));
    t.log.end();
}

}  // namespace differential
