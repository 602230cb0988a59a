#include "hook/markers.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <link.h>

#include "hook/entry.h"
#include "tessera/common/system_calls.h"

namespace tessera::counters {
namespace {

// nopl disp32(%rax); the displacement spells TSRB or TSRE. The tracer decodes the same bytes.
constexpr size_t kMarkerBytes = 7;
constexpr unsigned char kMarkers[2][kMarkerBytes] = {{0x0f, 0x1f, 0x80, 'T', 'S', 'R', 'B'}, {0x0f, 0x1f, 0x80, 'T', 'S', 'R', 'E'}};
constexpr uint64_t kPage = 4096, kStep = uint64_t{1} << 20, kReach = uint64_t{1} << 31;

struct Code {
    unsigned char *begin, *end;
    int protection;
};

unsigned char* next_marker(unsigned char* from, const unsigned char* end, Mark* mark) {
    constexpr size_t common = kMarkerBytes - 1;  // the last byte tells them apart
    for (; end - from >= static_cast<ptrdiff_t>(kMarkerBytes); ++from) {
        from = static_cast<unsigned char*>(memmem(from, static_cast<size_t>(end - from) - 1, kMarkers[kBegin], common));
        if (from == nullptr) return nullptr;
        *mark = from[common] == kMarkers[kEnd][common] ? kEnd : kBegin;
        if (from[common] == kMarkers[*mark][common]) return from;
    }
    return nullptr;
}

/// Memory for trampolines below `code`, in reach of its jumps; 0 if there is none. Below a program nothing grows towards it: its
/// heap is above it.
uint64_t memory_near(const Code& code, uint64_t bytes) {
    const uint64_t end = reinterpret_cast<uint64_t>(code.end), start = reinterpret_cast<uint64_t>(code.begin) / kPage * kPage;
    for (uint64_t below = kPage + bytes; below < start && end - start + below < kReach; below += below < kStep ? kPage : kStep) {
        const long at = sys::mmap(start - below, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE);
        if (at == static_cast<long>(start - below)) return start - below;
        if (!sys::failed(at)) sys::munmap(static_cast<uint64_t>(at), bytes);  // a kernel before 4.17 takes the address as a hint
    }
    return 0;
}

uint64_t count_markers(const Code& code) {
    uint64_t count = 0;
    Mark mark;
    for (unsigned char* at = next_marker(code.begin, code.end, &mark); at != nullptr; at = next_marker(at + kMarkerBytes, code.end, &mark))
        ++count;
    return count;
}

long set_protection(unsigned char* at, int protection) {
    const uint64_t first = reinterpret_cast<uint64_t>(at) / kPage * kPage;
    return sys::mprotect(first, reinterpret_cast<uint64_t>(at) + kMarkerBytes - first, protection);
}

/// Returns 0, or the errno of what the system does not allow.
int patch(const Code& code, RegionPage* page) {
    const uint64_t markers = count_markers(code);
    if (markers == 0) return 0;
    const uint64_t bytes = (markers * kTrampolineBytes + kPage - 1) / kPage * kPage, trampolines = memory_near(code, bytes);
    if (trampolines == 0) return ENOMEM;
    Mark mark;
    uint64_t trampoline = trampolines;
    for (unsigned char* at = code.begin; (at = next_marker(at, code.end, &mark)) != nullptr;
         at += kMarkerBytes, trampoline += kTrampolineBytes)
        write_trampoline(reinterpret_cast<unsigned char*>(trampoline), reinterpret_cast<uint64_t>(at), mark);
    long result = sys::mprotect(trampolines, bytes, PROT_READ | PROT_EXEC);
    trampoline = trampolines;
    for (unsigned char* at = code.begin; !sys::failed(result) && (at = next_marker(at, code.end, &mark)) != nullptr;
         at += kMarkerBytes, trampoline += kTrampolineBytes) {
        result = set_protection(at, PROT_READ | PROT_WRITE | PROT_EXEC);
        if (sys::failed(result)) break;
        write_jump(at, trampoline);
        result = set_protection(at, code.protection);
        __atomic_add_fetch(mark == kBegin ? &page->begin_markers : &page->end_markers, 1, __ATOMIC_RELAXED);
    }
    return sys::failed(result) ? static_cast<int>(-result) : 0;
}

int patch_object(dl_phdr_info* object, size_t, void* data) {
    RegionPage* page = static_cast<RegionPage*>(data);
    const uint64_t own = reinterpret_cast<uint64_t>(&kMarkers);
    for (int i = 0; i < object->dlpi_phnum; ++i) {  // this library holds markers as constants
        const ElfW(Phdr) & part = object->dlpi_phdr[i];
        if (part.p_type == PT_LOAD && own - (object->dlpi_addr + part.p_vaddr) < part.p_memsz) return 0;
    }
    const uint32_t begins = page->begin_markers, ends = page->end_markers;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr) & part = object->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || (part.p_flags & PF_R) == 0) continue;
        unsigned char* begin = reinterpret_cast<unsigned char*>(object->dlpi_addr + part.p_vaddr);
        const int protection = PROT_READ | PROT_EXEC | ((part.p_flags & PF_W) != 0 ? PROT_WRITE : 0);
        const int error = patch({begin, begin + part.p_filesz, protection}, page);
        if (error == 0) continue;
        page->patch_errno = error;
        return 1;
    }
    return page->begin_markers > begins && page->end_markers > ends ? 1 : 0;  // 1: no look at further objects
}

}  // namespace

void patch_markers(RegionPage* page) { dl_iterate_phdr(patch_object, page); }

}  // namespace tessera::counters
