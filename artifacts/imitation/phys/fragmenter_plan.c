#include "phys/fragmenter_plan.h"

#include <stdlib.h>

#include "phys/indices.h"

uint32_t fragmenter_level_frames(unsigned order, unsigned level) {
    return (UINT32_C(1) << order) - (UINT32_C(1) << (level < order ? order - 1 - level : level - order + 1));
}

uint32_t fragmenter_level_blocks(unsigned order, unsigned level) {
    if (level < order) return level + 1;
    const unsigned parts = level - order + 1;
    return (UINT32_C(1) << parts) * (order - parts);
}

struct sums {
    uint64_t frames, blocks;
};

static int extfrag_after(const struct fragmenter_goal *goal, struct sums base, const struct fragmenter_plan *plan) {
    base.frames += (uint64_t)plan->lower * fragmenter_level_frames(goal->order, plan->level);
    base.blocks += (uint64_t)plan->lower * fragmenter_level_blocks(goal->order, plan->level);
    if (plan->upper > 0) {
        base.frames += (uint64_t)plan->upper * fragmenter_level_frames(goal->order, plan->level + 1);
        base.blocks += (uint64_t)plan->upper * fragmenter_level_blocks(goal->order, plan->level + 1);
    }
    return base.blocks == 0 ? 0 : extfrag_value(base.frames, base.blocks, goal->order);
}

static int unusable_after(const struct fragmenter_goal *goal, struct sums base, const struct fragmenter_plan *plan) {
    const uint64_t whole = (uint64_t)plan->lower << goal->order;
    const uint64_t broken = (uint64_t)plan->upper * ((UINT64_C(1) << goal->order) - 1);
    const uint64_t free = base.frames + whole + broken;
    return free == 0 ? 1000 : (int)((base.frames + broken) * 1000 / free);
}

static int index_after(const struct fragmenter_goal *goal, struct sums base, const struct fragmenter_plan *plan) {
    return goal->index == FRAGMENTER_EXTFRAG ? extfrag_after(goal, base, plan) : unusable_after(goal, base, plan);
}

/// Keeps `candidate` if it comes nearer to the target than the best so far.
static void consider(const struct fragmenter_goal *goal, struct sums base, struct fragmenter_plan candidate, struct fragmenter_plan *best) {
    candidate.expected = index_after(goal, base, &candidate);
    if (abs(candidate.expected - goal->target) < abs(best->expected - goal->target)) *best = candidate;
}

struct fragmenter_plan fragmenter_plan_for(const struct fragmenter_goal *goal, uint32_t chunks, uint64_t base_frames,
                                           uint64_t base_blocks) {
    const struct sums base = {base_frames, base_blocks};
    struct fragmenter_plan plan = {.chunks = chunks, .lower = chunks};
    plan.expected = index_after(goal, base, &plan);
    struct fragmenter_plan best = plan;
    if (goal->index == FRAGMENTER_EXTFRAG) {
        const unsigned top = 2 * goal->order - 2;
        for (uint32_t few = 0; few < chunks && plan.expected > goal->target; ++few) {
            const struct fragmenter_plan fewer = {.chunks = chunks, .lower = few};
            consider(goal, base, fewer, &best);
        }
        if (plan.expected > goal->target || top == 0) return best;
        while (plan.level < top - 1) {
            const struct fragmenter_plan next = {.chunks = chunks, .lower = chunks, .level = plan.level + 1};
            if (index_after(goal, base, &next) > goal->target) break;
            plan.level = next.level;
        }
    }
    for (uint32_t upper = 0; upper <= chunks; ++upper) {
        plan.upper = upper;
        plan.lower = chunks - upper;
        consider(goal, base, plan, &best);
    }
    return best;
}
