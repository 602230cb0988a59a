// areas.h - the areas of a process as far as events tell: events are applied to it in order, and it gives the shortest
// list of events that makes the same areas from nothing.
//
// This is how a recording, or a part cut from one, begins: with the areas that exist then. An area has a protection,
// the flags and the file of the call that made it, whether it is locked, and advice that lasts (huge pages, order of
// reading, fork, dump). Advice about contents (MADV_DONTNEED and the like) leaves areas as they are.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tessera/trace/events.h"

namespace tessera::trace {

class Areas {
public:
    void apply(const Event& event);
    /// With block 0: the heap's break, then each area by pool and offset. Neighbours that differ in nothing are one.
    std::vector<Event> events() const;
    /// The parts of a range that are mapped, as begin and end; areas that touch are one part.
    std::vector<std::pair<uint64_t, uint64_t>> mapped(EventPool pool, uint64_t offset_bytes, uint64_t length_bytes) const;

private:
    struct Area {
        uint64_t end = 0;
        uint32_t protection = 0;
        uint32_t flags = 0;
        uint32_t file = 0;
        uint64_t file_offset_bytes = 0;
        uint64_t advice = 0;     ///< bit n: MADV number n holds
        bool is_locked = false;
        uint32_t lock_flags = 0;
        bool by_brk = false;     ///< made by brk, not mapped over the heap
    };
    using List = std::map<uint64_t, Area>;  ///< by first offset, without overlaps

    static void split(List& list, uint64_t at);
    static void erase(List& list, uint64_t begin, uint64_t end);
    static bool continues(uint64_t begin, const Area& before, const Area& area);
    template <typename Change>
    void change(const Event& event, Change change);
    void move(const Event& event);
    void set_break(uint64_t bytes);

    List lists_[event_pools];
    uint64_t break_bytes_ = 0;
};

}  // namespace tessera::trace
