// cache_level.h - a cache as an oracle sees it: sets of std::list, most recently used first; under another policy than LRU, ways in order.
#pragma once

#include <algorithm>
#include <list>
#include <optional>
#include <vector>

#include "cache/hierarchy.h"
#include "cache/slice_hash.h"

namespace tessera::sim {

/// A Cache of hierarchy.h.
class CacheLevel {
public:
    CacheLevel(const CacheGeometry& geometry, const Platform& platform, uint64_t slices)
        : ways_(geometry.ways), slices_(slices), recent_(geometry.sets()) {
        if (geometry.replacement == "lru") return;
        by_way_.assign(geometry.sets(), std::vector<std::optional<Line>>(ways_));
        policy_ = replacements().make(geometry.replacement, geometry.sets(), ways_, platform);
    }

    bool reference(LineNumber line, LineClass holds, const Instruction& instruction) {
        const size_t set = set_of(line.value);
        Line* const found = find(set, line);
        const LineReference by = reference_of(line, holds, instruction);
        if (policy_) use_by_policy(set, found, by);
        else use_by_recency(set, found, by);
        return found != nullptr;
    }
    void fill(LineNumber line, LineClass holds, const Instruction& instruction) {
        reference(line, holds, instruction);
        find(set_of(line.value), line)->holds = holds;
    }
    bool holds(LineNumber line) const { return const_cast<CacheLevel*>(this)->find(set_of(line.value), line) != nullptr; }
    void watch(MemoryLevel level, EvictionWatcher& watcher) { level_ = level, watcher_ = &watcher; }

private:
    struct Line {
        LineNumber number;
        LineClass holds;
    };

    Line* find(size_t set, LineNumber line) {
        for (Line& held : recent_[set])
            if (held.number == line) return &held;
        if (policy_)
            for (auto& held : by_way_[set])
                if (held && held->number == line) return &*held;
        return nullptr;
    }
    void use_by_recency(size_t set, const Line* found, const LineReference& by) {
        auto& lines = recent_[set];
        if (found != nullptr) {
            const auto at = std::find_if(lines.begin(), lines.end(), [&](const Line& held) { return &held == found; });
            return lines.splice(lines.begin(), lines, at);
        }
        if (lines.size() == ways_) {
            leaves(lines.back());
            lines.pop_back();
        }
        lines.push_front({by.line, by.holds});
    }
    void use_by_policy(size_t set, const Line* found, const LineReference& by) {
        auto& ways = by_way_[set];
        size_t way = 0;
        if (found != nullptr) {
            while (!ways[way] || &*ways[way] != found) ++way;
            return policy_->hit(set, way, by);
        }
        while (way < ways_ && ways[way]) ++way;
        if (way == ways_) {
            way = policy_->victim(set, by);
            leaves(ways.at(way).value());
        }
        ways[way] = Line{by.line, by.holds};
        policy_->fill(set, way, by);
    }
    void leaves(const Line& line) const {
        if (watcher_ != nullptr) watcher_->evicted(level_, line.number, line.holds);
    }
    uint64_t set_of(uint64_t line) const {
        if (slices_ == 0) return line % recent_.size();
        const uint64_t of_a_slice = recent_.size() / slices_;
        return sliced_set(line, slices_, of_a_slice, [=](uint64_t number) { return number % of_a_slice; });
    }

    uint64_t ways_, slices_;
    std::vector<std::list<Line>> recent_;                    ///< under LRU
    std::vector<std::vector<std::optional<Line>>> by_way_;   ///< under another policy
    std::unique_ptr<Replacement> policy_;                    ///< null: LRU
    MemoryLevel level_ = MemoryLevel::l1d;
    EvictionWatcher* watcher_ = nullptr;
};

using Hierarchy = CacheLevels<CacheLevel>;

}  // namespace tessera::sim
