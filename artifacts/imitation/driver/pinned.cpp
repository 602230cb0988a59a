#include "driver/pinned.h"

namespace tessera::os {

void Pinned::start(vm_system &system, std::vector<fragmenter_pins> &pins) {
    phys *memory = system.phys;
    owner_.name = "pinned", owner_.context = this;
    owner_.mapped = mapped, owner_.referenced = referenced, owner_.migrate = migrate;
    lru_set_owner(&system.lru, owner_number, &owner_);
    for (fragmenter_pins &of_zone : pins)
        for (uint32_t i = 0; i < of_zone.count; ++i) {
            const uint32_t frame = of_zone.frames[i];
            if (!bitmap_get(memory->frames.lru, frame)) continue;
            error failure{};
            phys_set_lru(memory, frame, false, &failure);  // the lists set it again
            lru_own(&system.lru, frame, owner_number, LRU_UNEVICTABLE_PAGE);
            lru_add(&system.lru, frame, 0);
            place_[frame] = &of_zone.frames[i];
        }
    lru_drain_all(&system.lru);
}

void Pinned::end(vm_system &system) {
    lru_drain_all(&system.lru);
    for (const auto &[frame, place] : place_) lru_forget(&system.lru, frame);
    place_.clear();
}

bool Pinned::migrate(void *context, uint32_t from, uint32_t to, uint32_t) {
    auto &place = static_cast<Pinned *>(context)->place_;
    const auto found = place.find(from);
    if (found == place.end()) return false;
    uint32_t *pin = found->second;
    *pin = to;
    place.erase(found);
    place[to] = pin;
    return true;
}

}  // namespace tessera::os
