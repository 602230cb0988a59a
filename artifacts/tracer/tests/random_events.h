// random_events.h - random lists of events that keep the rules of events.h.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <random>

#include "streams.h"

namespace tessera::trace::testing {

constexpr uint64_t page = 4096;

/// An event in a pool of `pages` pages.
inline Event random_event(std::mt19937_64& random, uint64_t pages, uint32_t files) {
    constexpr uint32_t advices[] = {MADV_NORMAL,   MADV_RANDOM,     MADV_SEQUENTIAL, MADV_DONTNEED,
                                    MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTFORK,   MADV_DOFORK};
    Event e;
    e.kind = static_cast<EventKind>(random() % event_kinds);
    e.pool = static_cast<EventPool>(random() % event_pools);
    const uint64_t first = random() % pages, count = 1 + random() % std::min<uint64_t>(pages - first, 8);
    e.offset_bytes = first * page;
    e.length_bytes = count * page;
    if (e.kind == EventKind::brk) {
        e.pool = EventPool::heap;
        e.offset_bytes = 0;
        e.length_bytes = random() % (pages * page);
    }
    if (e.kind == EventKind::remap) {
        e.new_pool = static_cast<EventPool>(random() % event_pools);
        const uint64_t to = random() % pages;
        e.new_offset_bytes = to * page;
        e.new_length_bytes = (1 + random() % std::min<uint64_t>(pages - to, 8)) * page;
        e.flags = random() % 4 == 0 ? 4 : 1;
    }
    if (e.kind == EventKind::map || e.kind == EventKind::protect) e.protection = random() % 8;
    if (e.kind == EventKind::map) {
        e.flags = random() % 2 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
        if (random() % 8 == 0) e.flags |= MAP_LOCKED;
        e.file = static_cast<uint32_t>(random() % (files + 1));
        if (e.file != 0) e.file_offset_bytes = random() % 100 * page;
    }
    if (e.kind == EventKind::advise) e.flags = advices[random() % std::size(advices)];
    if (e.kind == EventKind::lock) e.flags = random() % 2;
    return e;
}

/// Of a stream of `executions`: at most `count` events, the first of them at the start.
inline Events random_events(uint64_t seed, size_t count, uint64_t executions, uint64_t pages = 64) {
    std::mt19937_64 random(seed);
    Events events;
    for (uint64_t i = random() % 4; i > 0; --i) events.files.push_back({i % 2 ? "file \"" + std::to_string(i) + "\"" : "", random()});
    events.file_pool_base = 0x6000000000;
    events.file_pool_bytes = 1u << 26;
    events.at_start = random() % (count + 1);
    std::vector<uint64_t> blocks;
    for (size_t i = 0; i < count; ++i) blocks.push_back(i < events.at_start ? 0 : random() % (executions + 1));
    std::sort(blocks.begin(), blocks.end());
    for (const uint64_t block : blocks) {
        events.list.push_back(random_event(random, pages, static_cast<uint32_t>(events.files.size())));
        events.list.back().block = block;
    }
    return events;
}

inline void write_stream(const std::string& path, const Stream& stream, const Events& events, const Header& header = plain_header()) {
    Writer writer = Writer::create(path);
    for (const StaticBlock& block : stream.blocks) writer.add_block(block);
    for (const Execution& e : stream.executions)
        writer.append(e.block, e.addresses.data(), e.is_store.data(), static_cast<uint16_t>(e.addresses.size()));
    writer.set_events(events);
    writer.finish(header);
}

}  // namespace tessera::trace::testing
