#include "driver/machine.h"

#include "driver/refusal.h"

namespace tessera::os {
namespace {

constexpr uint32_t other_file = FILE_MOST_FILES - 1;  // no file of a trace has this number
constexpr uint64_t read_bytes = 128 << 10;

[[noreturn]] void refuse(const Scenario &scenario, const error &error, const char *code) {
    throw Refusal("scenario " + scenario.name + ": " + error.asked, std::string(error.found) + " [" + code + "]", error.remedy);
}

}  // namespace

Machine::Machine(const Scenario &scenario, const std::vector<KnownFile> &files) : scenario_(scenario), storage_(scenario.disk_model) {
    error failure{};
    memory_map map{};
    if (!memory_map_pc(&map, scenario.memory_bytes, &failure)) refuse(scenario, failure, "os/memory");
    phys_config config = phys_config_default();
    config.thp = scenario.thp.enabled == THP_NEVER ? PHYS_THP_OFF : PHYS_THP_ON;
    const bool made = phys_create(&memory, &map, &config, &failure);
    memory_map_destroy(&map);
    if (!made) refuse(scenario, failure, "os/memory");
    vm_create(&system, &memory, &scenario.thp);
    policy_use(&system, scenario.policy);
    try {
        build(files);
    } catch (...) {  // no destructor runs
        take_down();
        throw;
    }
}

Machine::~Machine() { take_down(); }

void Machine::build(const std::vector<KnownFile> &files) {
    fill_pools();
    if (scenario_.fragmented) fragment();
    pinned_.start(system, pins_);
    vm_swap_on(&system, static_cast<uint32_t>(scenario_.swap_bytes >> 12), scenario_.swap_synchronous);
    system.page_cluster = scenario_.swap_page_cluster;
    system.reclaim.swappiness = scenario_.swappiness;
    storage_.attach(system, !scenario_.swap_synchronous);
    slow_path_start(&system);
    if (scenario_.areas_cost) {
        area_slabs_create(&slabs_, &memory, 0);
        has_slabs_ = true;
        system.slabs = &slabs_;
    }
    fill_cache(files);
    if (process_create(&process, &system, 1, 0) != PHYS_GOT_FRAMES)
        throw Refusal("scenario " + scenario_.name, "no memory is left for the first page table [os/out-of-memory]",
                      "give it more memory, fewer huge pages in pools, or a lower target of fragmentation", 1);
    has_process_ = true;
}

/// The process of a program that is still alive: its memory goes with the machine.
void Machine::take_down() {
    if (has_process_) process_exit(&process, 0);
    if (has_slabs_) area_slabs_destroy(&slabs_);
    vm_lru_drain(&system);
    pinned_.end(system);
    vm_destroy(&system);
    for (fragmenter_pins &pins : pins_) fragmenter_release(&memory, &pins);
    phys_destroy(&memory);
}

void Machine::fill_pools() {
    const char *const words[HUGETLB_SIZES] = {"2mb", "1gb"};
    for (int size = 0; size < HUGETLB_SIZES; ++size) {
        const uint64_t wanted = scenario_.huge_pages[size];
        if (wanted == 0) continue;
        const std::string key = std::string("hugetlb.pages_") + words[size];
        const uint64_t got = hugetlb_resize(&system.hugetlb, static_cast<hugetlb_size>(size), wanted, 0);
        if (got < wanted)
            throw Refusal("scenario " + scenario_.name + ": " + key + " = " + std::to_string(wanted),
                          "the machine has room for " + std::to_string(got) + " [os/hugetlb]",
                          "ask for fewer pages, or give it more memory_bytes");
        notes.emplace_back(key, std::to_string(got));
    }
}

void Machine::fragment() {
    fragmenter_goal goal = scenario_.fragmentation;
    for (const phys_zone zone : {PHYS_DMA32, PHYS_NORMAL}) {
        if (!memory.zones[zone].populated) continue;
        error failure{};
        fragmenter_pins pins{};
        goal.zone = zone;
        if (!fragmenter_run(&memory, &goal, &pins, &failure)) refuse(scenario_, failure, "os/fragmentation");
        pins_.push_back(pins);
        notes.emplace_back(std::string("fragmentation.") + phys_zone_name(zone),
                           "index " + std::to_string(pins.reached) + " thousandths, " + std::to_string(pins.count) + " frames pinned");
    }
    if (pins_.empty())
        throw Refusal("scenario " + scenario_.name + ": fragmentation.index",
                      "all memory is in the zone DMA, which is not fragmented [os/fragmentation]",
                      "give it more memory_bytes, or write none");
    watermark_kswapd_pass(&memory, PHYS_NORMAL, 0);
}

/// The files of the program come last, so that they are the youngest pages.
void Machine::fill_cache(const std::vector<KnownFile> &files) {
    if (scenario_.other_cache_bytes > 0) {
        file_open(&system.files, other_file, scenario_.other_cache_bytes, false);
        read(other_file, scenario_.other_cache_bytes);
    }
    for (const KnownFile &file : files) {
        file_open(&system.files, file.number, file.bytes, false);
        if (scenario_.caches_files) read(file.number, file.bytes);
    }
    uint64_t cached = 0;
    for (size_t i = 0; i < system.files.files; ++i)
        if (system.files.file[i] != nullptr) cached += system.files.file[i]->cached;
    if (cached > 0) notes.emplace_back("page_cache.pages", std::to_string(cached));
}

void Machine::read(uint32_t number, uint64_t bytes) {
    file *file = file_named(&system.files, number);
    for (uint64_t at = 0; at < bytes; at += read_bytes) {
        if (file_read(&system.files, file, at, std::min(read_bytes, bytes - at), 0).outcome != PHYS_GOT_FRAMES)
            throw Refusal("scenario " + scenario_.name + ": page_cache", "no memory is left for a page of a file [os/out-of-memory]",
                          "give it more memory_bytes", 1);
        vm_background(&system, 0);
    }
    file->ra = {.ra_pages = FILE_RA_PAGES, .prev_pos = -1};  // the program opens it anew
}

uint64_t Machine::free_frames() const {
    int64_t frames = 0;
    for (int zone = 0; zone < PHYS_ZONES; ++zone) frames += phys_zone_free(&memory, static_cast<phys_zone>(zone));
    return static_cast<uint64_t>(frames);
}

}  // namespace tessera::os
