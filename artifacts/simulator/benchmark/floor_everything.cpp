// floor_everything.cpp - R of "R, everything": what the engine's clock does with all mechanisms on, for the loop of streams.h.
//
// The same R as the engine's, to the cycle; simulator_benchmark fails if C or R of the two differ. Scalar, one layout at a time,
// the six instructions written out. There are no stores, strings and returns in the loop: what these have is left out.
#include <array>

#include "branch/redirects.h"
#include "floor_memory.h"

namespace tessera::sim::benchmark {
namespace {

constexpr uint64_t refill_cycles = 15;

/// At most `width` a cycle, in order.
template <unsigned width>
struct InOrder {
    uint64_t slots = 0;
    uint64_t begin(uint64_t earliest) { return (slots = std::max(slots, earliest * width)) / width; }
    void taken() { ++slots; }
    uint64_t take(uint64_t earliest) {
        const uint64_t cycle = begin(earliest);
        taken();
        return cycle;
    }
};

template <unsigned size>
struct Ring {
    std::array<uint64_t, size> values{};
    unsigned at = 0;
    uint64_t oldest() const { return values[at]; }
    void push(uint64_t value) {
        values[at] = value;
        at = at + 1 == size ? 0 : at + 1;
    }
};

/// Ten fill buffers, the one that is free first in front.
struct Mshrs {
    std::array<uint64_t, 10> free{};
    uint64_t first() const { return free[0]; }
    void take_until(uint64_t done) {
        unsigned i = 0;
        for (; i + 1 < free.size() && free[i + 1] < done; ++i) free[i] = free[i + 1];
        free[i] = done;
    }
};

/// One walker, and the last eight intervals in which it was idle, sorted by end.
struct Walkers {
    struct Idle {
        uint64_t begin = 0, end = 0;
    };
    std::array<Idle, 8> idle{};
    uint64_t free = 0;
    uint64_t serve(uint64_t ready, uint64_t duration) {
        for (Idle& one : idle) {
            const uint64_t begin = std::max(ready, one.begin);
            if (begin + std::max<uint64_t>(duration, 1) <= one.end) return one.begin = begin + duration;
        }
        const uint64_t before = free, begin = std::max(ready, before);
        free = begin + duration;
        if (begin > before) {  // the newest ends last, because the walker is one
            std::move(idle.begin() + 1, idle.end(), idle.begin());
            idle.back() = {before, begin};
        }
        return free;
    }
};

struct InFlight {
    std::array<uint32_t, 64> keys;
    std::array<uint64_t, 64> times{};
    InFlight() { keys.fill(~0u); }
    uint64_t arrival(uint32_t what) const { return keys[what % 64] == what ? times[what % 64] : 0; }
    void set(uint32_t what, uint64_t time) { keys[what % 64] = what, times[what % 64] = time; }
};

struct Machine {
    FloorTlbs tlbs;
    FloorSlicedCaches caches;
    FloorTables tables;
    FloorStride stride;
    FloorStream stream;
    FloorQueues memory;
    FloorCounts counts;
    InOrder<4> dispatch, alu;
    InOrder<2> load_ports;
    Ring<192> window;
    Ring<72> loads;
    Mshrs mshrs;
    Walkers walkers;
    InFlight pages, lines, lines_to_l2;
    uint64_t retired = 0;

    uint64_t walked(uint64_t ready, const FloorWalk& walk, uint64_t dispatched) {
        if (walk.missed_l1d) ready = std::max(ready, mshrs.first());
        const uint64_t done = walkers.serve(ready, memory.walk(walk, ready, dispatched));
        if (walk.missed_l1d) mshrs.take_until(done);
        return done;
    }

    void fetch_code() {
        const uint64_t began = dispatch.slots / 4;
        uint64_t ready = began + 7;
        if (!tlbs.stlb.reference(0, 1u << 31)) ready = walked(ready, tables.walk_code(caches), began);
        dispatch.begin(ready);
    }

    /// Of an instruction that computes.
    uint64_t computed(uint64_t ready) {
        const uint64_t enters = dispatch.take(window.oldest());
        const uint64_t result = std::max(alu.take(enters), ready) + 1;
        retire(result);
        return result;
    }
    void retire(uint64_t done) {
        retired = std::max(retired, done);
        window.push(retired);
    }

    uint64_t loaded(uint64_t offset, bool is_2mb, uint32_t pc, uint64_t address_ready) {
        const uint64_t enters = dispatch.take(std::max(window.oldest(), loads.oldest()));
        uint64_t ready = std::max({enters, address_ready, load_ports.take(enters)});
        const auto page = uint32_t(offset >> 12), line = pool_lines + uint32_t(offset >> 6);
        tables.touch(offset);
        const FloorTranslation translation = tlbs.translate(offset, is_2mb);
        const uint64_t pending = pages.arrival(page);
        ready = std::max(ready, pending);
        if (translation != FloorTranslation::l1) ready += 7;
        counts.hits += translation == FloorTranslation::stlb;
        if (translation == FloorTranslation::miss) {
            const FloorWalk walk = tables.walk(caches, offset, is_2mb);
            ++counts.misses;
            counts.walk_cycles += walk.cycles;
            ready = walked(ready, walk, enters);
            pages.set(page, ready);
        } else {
            pages.set(page, pending);
        }
        const uint64_t data = arrived(line, caches.load(line), ready, enters);
        if (const uint32_t wanted = stride.observe(pc, (uint64_t{pool_lines} << 6) + offset)) prefetch_into_l1d(wanted, ready, enters);
        uint32_t wanted[2];
        const unsigned asked = stream.observe(line, wanted);
        for (unsigned i = 0; i < asked; ++i) prefetch_into_l2(wanted[i], ready, enters);
        loads.push(std::max(retired, data));
        retire(data);
        return data;
    }

    uint64_t arrived(uint32_t line, FloorLevel level, uint64_t ready, uint64_t enters) {
        const uint64_t pending = lines.arrival(line);
        if (level == in_l1d) {
            lines.set(line, pending);
            return std::max(ready + 4, pending);
        }
        const uint64_t begin = std::max(ready, mshrs.first());
        uint64_t done = level == in_memory ? memory.load(line, begin, enters) : begin + floor_load_cycles[level];
        done = std::max({done, pending, lines_to_l2.arrival(line)});
        mshrs.take_until(done);
        lines.set(line, done);
        return done;
    }

    void prefetch_into_l1d(uint32_t line, uint64_t issue, uint64_t enters) {
        const FloorLevel level = caches.load(line);
        const uint64_t pending = lines.arrival(line);
        lines.set(line, pending);
        if (level == in_l1d) return;
        const uint64_t mshr = mshrs.first(), begin = std::max(issue, mshr);
        uint64_t done = level == in_memory ? memory.load<true>(line, begin, enters) : begin + floor_load_cycles[level];
        done = std::max({done, pending, lines_to_l2.arrival(line)});
        if (mshr <= issue) mshrs.take_until(done);
        lines.set(line, done);
    }

    void prefetch_into_l2(uint32_t line, uint64_t issue, uint64_t enters) {
        const FloorLevel level = caches.below_l1d(line);
        const uint64_t pending = lines_to_l2.arrival(line);
        lines_to_l2.set(line, pending);
        if (level == in_l2) return;
        const uint64_t done = level == in_memory ? memory.load<true>(line, issue, enters) : issue + floor_load_cycles[level];
        lines_to_l2.set(line, std::max(done, pending));
    }
};

}  // namespace

void predict(FloorInput& input, const Platform& platform) {
    Redirects redirects(platform, *input.blocks);
    input.redirected.resize(input.block_ids.size());
    for (size_t i = 0; i < input.block_ids.size(); ++i) input.redirected[i] = redirects.enter(input.block_ids[i]);
}

FloorCounts floor_everything(const FloorInput& input) {
    Machine m;
    uint64_t generator = 0, sum = 0, redirect = 0;
    uint32_t pcs[8] = {};
    for (size_t i = 0; i < input.blocks->size(); ++i) pcs[i] = uint32_t((*input.blocks)[i].pc);
    uint32_t last_code_page = 0;
    for (size_t i = 0; i < input.offsets.size(); ++i) {
        const uint64_t offset = input.offsets[i];
        const uint32_t block = input.block_ids[i];
        if (input.redirected[i]) m.dispatch.begin(redirect);
        if (pcs[block] >> 12 != last_code_page) last_code_page = pcs[block] >> 12, m.fetch_code();
        generator = m.computed(generator);
        generator = m.computed(generator);
        const uint64_t address = m.computed(generator);
        const uint64_t data = m.loaded(offset, input.region_is_2mb[offset >> 21], pcs[block] + 12, address);
        sum = m.computed(std::max(sum, data));
        redirect = m.computed(sum) + refill_cycles;
    }
    m.counts.runtime_cycles = m.retired;
    return m.counts;
}

}  // namespace tessera::sim::benchmark
