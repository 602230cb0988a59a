// smaps.h - reads the actual page sizes from the text of /proc/PID/smaps.
//
// KernelPageSize is the page size of the mapping, MMUPageSize the page size in the page tables; both must match the
// layout. AnonHugePages, ShmemPmdMapped and FilePmdMapped count transparent huge pages, which are 2MB pages that the layout did
// not ask for. Outside the pools every huge page of any kind is one that the layout does not have.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "mosalloc/pool_map.h"

namespace mosalloc::run {

struct Area {
    uint64_t start = 0, end = 0;
    uint64_t kernel_page_bytes = 0, mmu_page_bytes = 0, anon_huge_bytes = 0, resident_bytes = 0;
    uint64_t shmem_huge_bytes = 0, file_huge_bytes = 0;
    uint64_t file_offset = 0, inode = 0;
    bool accessible = true;  ///< has any of r, w, x
    bool shared = false;
    std::string name;        ///< a file, [heap], [stack], ...; empty: anonymous
};

struct WindowFound {
    mosalloc_window asked = {};
    uint64_t smallest_page_bytes = 0;  ///< of the mappings in it; 0 if none
    uint64_t confirmed_bytes = 0;      ///< covered by mappings with the page size asked for, or on demand by none yet
    bool confirmed() const { return confirmed_bytes == asked.end_offset - asked.start_offset; }
};

struct Findings {
    std::vector<WindowFound> windows;
    uint64_t anon_huge_bytes = 0;   ///< transparent huge pages in 4KB parts of the pools
    uint64_t wrong_page_bytes = 0;  ///< 4KB parts that are mapped with other pages
    uint64_t outside_huge_bytes = 0;  ///< huge pages of any kind outside both pools: no layout has them
    std::string outside_huge_name;    ///< the first mapping that has them, as in /proc/PID/maps; empty: anonymous
    bool confirmed() const;
};

std::vector<Area> read_smaps(FILE* file);
/// Whether these areas are of a process that has the pools: they are mapped from start to end of its life.
bool has_pools(const mosalloc_pool_map& map, const std::vector<Area>& areas);
Findings compare(const mosalloc_pool_map& map, const std::vector<Area>& areas);

}  // namespace mosalloc::run
