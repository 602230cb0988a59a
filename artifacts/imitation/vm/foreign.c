#include "vm/foreign.h"

static bool mapped(void *context, uint32_t frame) {
    (void)context, (void)frame;
    return true;
}

static uint32_t referenced(void *context, uint32_t frame, bool *executable) {
    (void)context, (void)frame, (void)executable;
    return 1;
}

static bool unmap(void *context, uint32_t frame, uint32_t cpu) {
    (void)context, (void)frame, (void)cpu;
    return false;
}

static bool remove_page(void *context, uint32_t frame, uint64_t shadow, uint32_t cpu) {
    (void)context, (void)frame, (void)shadow, (void)cpu;
    return false;
}

static bool migrate(void *context, uint32_t from, uint32_t to, uint32_t cpu) {
    (void)context, (void)from, (void)to, (void)cpu;
    return true;
}

static const struct lru_owner owner = {
    .name = "others", .mapped = mapped, .referenced = referenced, .unmap = unmap, .remove = remove_page, .migrate = migrate};

uint32_t foreign_adopt(struct vm_system *system) {
    struct frames *frames = &system->phys->frames;
    uint32_t adopted = 0;
    lru_set_owner(&system->lru, LRU_OWNER_FOREIGN, &owner);
    for (uint32_t frame = 0; frame < frames->count; ++frame) {
        if (!bitmap_get(frames->lru, frame) || frame_kind(frames, frame) != FRAME_USED || frame_order(frames, frame) > 0) continue;
        bitmap_clear(frames->lru, frame, 1);
        lru_own(&system->lru, frame, LRU_OWNER_FOREIGN, LRU_SWAPBACKED | LRU_UNEVICTABLE_PAGE);
        lru_give(&system->lru, frame);
        ++adopted;
    }
    return adopted;
}
