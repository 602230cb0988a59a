#include "driver/accesses.h"

#include "driver/refusal.h"
#include "driver/timers.h"

namespace tessera::os {

void Accesses::access(At at, uint64_t page, bool write, uint64_t index, bool in_call) {
    const At now{at.block, at.access + index};
    make_fault(at, now, page, write);
    run_kswapd(machine_, recorder_, in_call ? now : At{now.block, now.access + 1});
}

/// The second page's fault may reclaim the first page, which faults again then.
void Accesses::access_two(At at, uint64_t page, bool write, uint64_t index) {
    constexpr unsigned most_starts = 16;  // as retries of an allocation that reclaims nothing (mm/page_alloc.c, MAX_RECLAIM_RETRIES)
    const At now{at.block, at.access + index};
    bool faulted = true;
    for (unsigned start = 0; faulted; ++start) {
        if (start == most_starts) out_of_memory("two pages at once at " + recorder_.where(page));
        faulted = false;
        for (const uint64_t one : {page, page + 1}) {
            if (recorder_.rights().allow(one << 12, write)) continue;
            make_fault(at, now, one, write);
            faulted = true;
        }
    }
    run_kswapd(machine_, recorder_, {now.block, now.access + 1});
}

void Accesses::make_fault(At at, At now, uint64_t page, bool write) {
    recorder_.begin_fault(at, now, page);
    recorder_.end_fault(resolve(page, write), page, write);
}

fault Accesses::resolve(uint64_t page, bool write) {
    fault found = fault_resolve(&machine_.process, page, write, 0);
    if (found.kind == FAULT_BUS && grow_file(page)) found = fault_resolve(&machine_.process, page, write, 0);
    if (found.kind <= FAULT_FILE || found.kind == FAULT_SWAP || found.kind == FAULT_SWAP_CACHE) return found;
    refuse(found, page, write);
}

void Accesses::refuse(const fault &found, uint64_t page, bool write) const {
    const std::string place = recorder_.where(page);
    if (found.kind == FAULT_NEEDS) out_of_memory("a page at " + place);
    if (found.kind == FAULT_BUS)
        throw Refusal("scenario " + scenario_.name + ": a huge page at " + place, "the pool is empty: SIGBUS [os/hugetlb]",
                      "give the scenario more hugetlb.pages_2mb or hugetlb.pages_1gb", 1);
    if (found.kind == FAULT_BAD_ACCESS)
        throw Refusal(std::string(write ? "a store" : "a load") + " at " + place, "no area of the program allows it [os/no-area]",
                      "record the program from its start, with all calls: tessera trace record --events --roi whole", 1);
    throw Refusal("an access at " + place, "shared memory is not modelled here [os/not-modelled]",
                  "use a program whose pools are anonymous", 1);
}

void Accesses::out_of_memory(const std::string &asked) const {
    const swap &swap = machine_.system.swap;
    const std::string of_swap = swap.slots == 0
                                    ? "there is no swap"
                                    : std::to_string(swap.in_use) + " of " + std::to_string(swap.slots - 1) + " pages of swap are in use";
    throw Refusal("scenario " + scenario_.name + ": " + asked,
                  "out of memory: " + std::to_string(machine_.free_frames()) +
                      " frames of 4KB are free, nothing more can be reclaimed, and " + of_swap +
                      "; Linux would kill a process [os/out-of-memory]",
                  "give the scenario more memory_bytes or swap.bytes, or pin fewer frames", 1);
}

/// A file that was longer when it was recorded than when it was first mapped. False: the page is of no file.
bool Accesses::grow_file(uint64_t page) {
    const area *area = areas_at(&machine_.process.areas, page);
    file *file = area->file != 0 ? file_named(&machine_.system.files, area->file) : nullptr;
    if (file == nullptr) return false;
    file->bytes = (area->offset + (page - area->start) + 1) * PHYS_FRAME_BYTES;
    ++grown_files_;
    return true;
}

}  // namespace tessera::os
