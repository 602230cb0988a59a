// floor_memory.h - parts of floor_everything: caches with a sliced L3, page tables and walk caches, prefetchers, memory's queues.
//
// Sizes are Haswell's and known to the compiler; docs/clock.md says what each part does. A line is a 32-bit number: a line of the
// pool as its physical address / 64, a line of page tables as table_lines + its place, which has the same remainders as the
// true number and so the same sets, channels and banks.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "cache/slice_hash.h"
#include "floor.h"

namespace tessera::sim::benchmark {

inline constexpr uint32_t pool_lines = 1u << 28, table_lines = 1u << 30;  ///< physical address of the pool / 64: 16GB
enum FloorLevel : uint8_t { in_l1d, in_l2, in_l3, in_memory };
inline constexpr uint32_t floor_load_cycles[] = {4, 12, 36, 200};

struct FloorSlicedCaches {
    FloorLru<64, 8> l1d;
    FloorLru<512, 8> l2;
    FloorLru<24576, 20> l3;
    FloorLevel load(uint32_t line) { return l1d.reference(l1d.set_of(line), line) ? in_l1d : below_l1d(line); }
    FloorLevel below_l1d(uint32_t line) {
        if (l2.reference(l2.set_of(line), line)) return in_l2;
        const uint64_t whole = line >= table_lines ? (uint64_t{1} << 42) + (line - table_lines) : line;
        const auto set = uint32_t(sliced_set(whole, 12, 2048, [](uint64_t number) { return number % 2048; }));
        return l3.reference(set, line) ? in_l3 : in_memory;
    }
};

/// A walk: its cycles, and the lines that it loads from memory.
struct FloorWalk {
    uint32_t cycles = 0, from_memory = 0;
    bool missed_l1d = false;
    uint32_t lines[4];
    void add(uint32_t line, FloorLevel level) {
        cycles += floor_load_cycles[level];
        missed_l1d |= level != in_l1d;
        if (level == in_memory) lines[from_memory++] = line;
    }
};

/// Tables in the order of first touch: root 0, then those of the code (1, 2, 3), the pool's directory 4, the pool's tables.
struct FloorTables {
    FloorLru<8, 4> pde;
    FloorLru<1, 4> pdpte;
    FloorLru<1, 2> pml4e;
    std::vector<uint32_t> table = std::vector<uint32_t>(512);
    uint32_t next = 5;
    void touch(uint64_t offset) {
        uint32_t& mine = table[offset >> 21];
        if (mine == 0) mine = next++;
    }
    void upper(FloorSlicedCaches& caches, uint32_t directory_pointer_line, uint32_t gigabyte, FloorWalk& walk) {
        if (pdpte.reference(0, gigabyte)) return;
        if (!pml4e.reference(0, 1)) load(caches, 0, walk);
        load(caches, directory_pointer_line, walk);
    }
    void load(FloorSlicedCaches& caches, uint32_t place, FloorWalk& walk) {
        walk.add(table_lines + place, caches.load(table_lines + place));
    }
    FloorWalk walk(FloorSlicedCaches& caches, uint64_t offset, bool is_2mb) {
        FloorWalk walk;
        const uint32_t region = uint32_t(offset >> 21), directory = 4 * 64 + region / 8;
        if (is_2mb || !pde.reference(region % 8, region + 1)) {
            upper(caches, 64 + 2, 2, walk);
            load(caches, directory, walk);
        }
        if (!is_2mb) load(caches, table[region] * 64 + (uint32_t(offset >> 12) & 511) / 8, walk);
        return walk;
    }
    /// Of the one page of code, at 4MB.
    FloorWalk walk_code(FloorSlicedCaches& caches) {
        FloorWalk walk;
        if (!pde.reference(2, 1u << 20)) {
            upper(caches, 64, 1, walk);
            load(caches, 2 * 64, walk);
        }
        load(caches, 3 * 64, walk);
        return walk;
    }
};

/// By pc; at most one line, a stride ahead.
struct FloorStride {
    struct Row {
        uint32_t pc = ~0u, confidence = 0;
        uint64_t last = 0, stride = 0;
    } rows[24];
    /// The line asked for, or 0.
    uint32_t observe(uint32_t pc, uint64_t address) {
        Row& row = rows[pc % 24];
        if (row.pc != pc) {
            row = {pc, 0, address, 0};
            return 0;
        }
        const uint64_t stride = address - row.last;
        if (stride == 0) return 0;
        row.last = address;
        if (stride != row.stride) {
            row.stride = stride, row.confidence = 0;
            return 0;
        }
        if (row.confidence < 3) ++row.confidence;
        const uint64_t target = address + stride;
        if (row.confidence < 2 || target >> 12 != address >> 12 || target >> 6 == address >> 6) return 0;
        return uint32_t(target >> 6);
    }
};

/// By page; at most two lines, up to twenty ahead. The page used last is in front.
struct FloorStream {
    struct Run {
        int8_t last = 0, direction = 0, furthest = 0, steps = 0;
    };
    uint32_t pages[32];
    Run runs[32];
    FloorStream() { std::fill(std::begin(pages), std::end(pages), ~0u); }
    void to_front(unsigned e, uint32_t page, Run run) {
        std::memmove(pages + 1, pages, e * sizeof pages[0]);
        std::memmove(runs + 1, runs, e * sizeof runs[0]);
        pages[0] = page, runs[0] = run;
    }
    unsigned find(uint32_t page) const {
        unsigned e = 0;
        while (e < 4 && pages[e] != page) ++e;
        if (e < 4) return e;
        e = 32;
        for (unsigned k = 4; k < 32; ++k) e = pages[k] == page ? k : e;
        return e;
    }
    unsigned observe(uint32_t line_number, uint32_t (&wanted)[2]) {
        const uint32_t of = line_number / 64;
        const auto line = int8_t(line_number % 64);
        const unsigned e = find(of);
        if (e == 32) {
            to_front(31, of, {line, 0, line, 0});
            return 0;
        }
        if (e != 0) to_front(e, of, runs[e]);
        Run& run = runs[0];
        if (line == run.last) return 0;
        const int8_t direction = line > run.last ? 1 : -1;
        run.last = line;
        if (direction != run.direction) {
            run.direction = direction, run.steps = 1, run.furthest = line;
            return 0;
        }
        if (++run.steps < 2) return 0;
        run.steps = 2;
        int next = (direction > 0 ? std::max(run.furthest, line) : std::min(run.furthest, line)) + direction;
        unsigned asked = 0;
        for (; asked < 2 && next >= 0 && next < 64 && (next - line) * direction <= 20; next += direction) {
            wanted[asked++] = of * 64 + uint32_t(next);
            run.furthest = int8_t(next);
        }
        return asked;
    }
};

/// Four channels of sixteen banks with 8KB rows.
struct FloorQueues {
    uint64_t channels[4] = {}, banks[64] = {};
    uint32_t rows[64] = {};  ///< + 1; 0: none is open
    struct Answer {
        uint64_t begin, cycles;
    };
    template <bool prefetch>
    static uint64_t book(uint64_t& next, uint64_t ready, uint64_t dispatch, uint64_t distance) {
        if constexpr (!prefetch) {
            const uint64_t begin = std::max(ready, next);
            next = std::max(next, dispatch) + distance;
            return begin;
        }
        const uint64_t limit = dispatch + 32 * distance, begin = std::max(ready, std::min(next, limit));
        next = std::max(next, std::min(std::max(next, dispatch) + distance, limit));
        return begin;
    }
    template <bool prefetch = false>
    Answer ask(uint32_t line, uint64_t ready, uint64_t dispatch) {
        const uint32_t channel = line % 4, row = line / 512, bank = channel * 16 + row % 16;
        const uint64_t transfer = book<prefetch>(channels[channel], ready, dispatch, 12);
        const uint64_t begin = std::max(transfer, book<prefetch>(banks[bank], ready, dispatch, 10));
        const uint64_t cycles = rows[bank] == 0 ? 200 : rows[bank] == row / 16 + 1 ? 171 : 229;
        rows[bank] = row / 16 + 1;
        return {begin, cycles};
    }
    template <bool prefetch = false>
    uint64_t load(uint32_t line, uint64_t ready, uint64_t dispatch) {
        const Answer answer = ask<prefetch>(line, ready, dispatch);
        return answer.begin + answer.cycles;
    }
    uint64_t walk(const FloorWalk& walk, uint64_t ready, uint64_t dispatch) {
        uint64_t asked = ready, cycles = walk.cycles;
        for (uint32_t i = 0; i < walk.from_memory; ++i) {
            const Answer answer = ask(walk.lines[i], asked, dispatch);
            asked = answer.begin;
            cycles += answer.cycles;
        }
        cycles += asked - ready;
        const uint64_t counted = walk.from_memory * uint64_t{200};
        return std::max(cycles, counted) - counted;
    }
};

}  // namespace tessera::sim::benchmark
