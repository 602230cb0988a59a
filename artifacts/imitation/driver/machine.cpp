#include "driver/machine.h"

#include "driver/refusal.h"

namespace tessera::os {
namespace {

[[noreturn]] void refuse(const Scenario& scenario, const error& error, const char* code) {
    throw Refusal("scenario " + scenario.name + ": " + error.asked, std::string(error.found) + " [" + code + "]", error.remedy);
}

}  // namespace

Machine::Machine(const Scenario& scenario) {
    error failure{};
    memory_map map{};
    if (!memory_map_pc(&map, scenario.memory_bytes, &failure)) refuse(scenario, failure, "os/memory");
    phys_config config = phys_config_default();
    config.thp = scenario.thp.enabled == THP_NEVER ? PHYS_THP_OFF : PHYS_THP_ON;
    const bool made = phys_create(&memory, &map, &config, &failure);
    memory_map_destroy(&map);
    if (!made) refuse(scenario, failure, "os/memory");
    if (scenario.fragmented) fragment(scenario);
    vm_create(&system, &memory, &scenario.thp);
    if (process_create(&process, &system, 1, 0) == PHYS_GOT_FRAMES) return;
    vm_destroy(&system);  // no destructor runs
    for (fragmenter_pins& pins : pins_) fragmenter_release(&memory, &pins);
    phys_destroy(&memory);
    throw Refusal("scenario " + scenario.name, "no memory is left for the first page table [os/out-of-memory]", "give it more memory, or a lower target of fragmentation", 1);
}

Machine::~Machine() {
    // The process of a program that is still alive: its memory goes with the machine.
    process_exit(&process, 0);
    vm_destroy(&system);
    for (fragmenter_pins& pins : pins_) fragmenter_release(&memory, &pins);
    phys_destroy(&memory);
}

void Machine::fragment(const Scenario& scenario) {
    fragmenter_goal goal = scenario.fragmentation;
    for (const phys_zone zone : {PHYS_DMA32, PHYS_NORMAL}) {
        if (!memory.zones[zone].populated) continue;
        error failure{};
        fragmenter_pins pins{};
        goal.zone = zone;
        if (!fragmenter_run(&memory, &goal, &pins, &failure)) {
            for (fragmenter_pins& earlier : pins_) fragmenter_release(&memory, &earlier);
            phys_destroy(&memory);
            refuse(scenario, failure, "os/fragmentation");
        }
        pins_.push_back(pins);
        notes.emplace_back(std::string("fragmentation.") + phys_zone_name(zone),
                           "index " + std::to_string(pins.reached) + " thousandths, " + std::to_string(pins.count) + " frames pinned");
    }
    if (pins_.empty()) {
        phys_destroy(&memory);
        throw Refusal("scenario " + scenario.name + ": fragmentation.index", "all memory is in the zone DMA, which is not fragmented [os/fragmentation]",
                      "give it more memory_bytes, or write none");
    }
    watermark_kswapd_pass(&memory, PHYS_NORMAL, 0);
}

uint64_t Machine::free_frames() const {
    int64_t frames = 0;
    for (int zone = 0; zone < PHYS_ZONES; ++zone) frames += phys_zone_free(&memory, static_cast<phys_zone>(zone));
    return static_cast<uint64_t>(frames);
}

}  // namespace tessera::os
