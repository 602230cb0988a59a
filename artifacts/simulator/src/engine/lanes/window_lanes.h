// window_lanes.h - the out-of-order window model (engine/reference_core.h) for sixteen layouts.
//
// Queue positions depend on instruction and access counts only, so they are the same in every lane; times are
// lanes. Times are 32-bit cycles since a moving origin: rebase() subtracts each lane's current dispatch time,
// which no later time can precede, and clips what lies before it. Bit for bit the reference's results.
#pragma once

#include "engine/lanes/walker_lanes.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// The last n values of a sequence.
class HistoryLanes {
public:
    explicit HistoryLanes(size_t n) : size_(n), values_(n) {}
    LANES_INLINE_MEMBER V oldest() const { return load(&values_[at_]); }
    LANES_INLINE_MEMBER void push(V value) {
        store(&values_[at_], value);
        at_ = at_ + 1 == size_ ? 0 : at_ + 1;
    }
    Array<V>& values() { return values_; }

private:
    size_t size_, at_ = 0;
    Array<V> values_;
};

/// Identical servers; a job takes the one that is free first.
class ServerLanes {
public:
    explicit ServerLanes(size_t count) : count_(count), free_(count) {}
    /// When jobs that are ready at `ready` are done, in `lanes`.
    LANES_INLINE_MEMBER V serve(V ready, V duration, Mask lanes) {
        V first = load(&free_[0]);
        for (size_t k = 1; k < count_; ++k) first = min(first, load(&free_[k]));
        const V done = max(ready, first) + duration;
        for (size_t k = 0; k < count_ && any(lanes); ++k) {
            const V old = load(&free_[k]);
            const Mask taken = lanes & eq(old, first);
            store(&free_[k], select(taken, done, old));
            lanes = without(lanes, taken);
        }
        return done;
    }
    Array<V>& values() { return free_; }

private:
    size_t count_;
    Array<V> free_;
};

/// When the line or page last seen in each slot arrives.
class InFlightLanes {
public:
    static constexpr size_t slots = 64;
    InFlightLanes() : keys_(slots), times_(slots) {}
    /// The slot of `key`, which now holds it; a new key's arrival is 0.
    LANES_INLINE_MEMBER V* at(uint64_t position, uint32_t key) {
        const size_t slot = position % slots;
        if (keys_[slot] != key) {
            keys_[slot] = key;
            store(&times_[slot], zero());
        }
        return &times_[slot];
    }
    Array<V>& values() { return times_; }
    void clear() { keys_.zero(), times_.zero(); }

private:
    Array<uint32_t> keys_;
    Array<V> times_;
};

struct DataOutcome {
    bool all_l1d;
    LevelMisses misses;
};

class WindowLanes {
public:
    explicit WindowLanes(const Platform& p)
        : stlb_cycles_(broadcast(uint32_t(p.stlb_hit_cycles))), transfer_(broadcast(uint32_t(p.memory_cycles_per_line))),
          limited_(p.memory_cycles_per_line != 0), load_times_(p), registers_(64), dispatches_(p.dispatch_width), window_(p.rob_entries),
          loads_(p.load_queue_entries), stores_(p.store_buffer_entries), mshrs_(p.mshrs), walkers_(p.walkers) {}

    void reset() {
        retired_ = dispatched_ = drained_ = memory_free_ = zero();
        for (Array<V>* a : {&registers_, &dispatches_.values(), &window_.values(), &loads_.values(), &stores_.values(),
                            &mshrs_.values(), &walkers_.values()})
            a->zero();
        lines_.clear();
        pages_.clear();
        std::memset(origin_, 0, sizeof origin_);
        steps_ = 0;
    }

    LANES_INLINE_MEMBER void begin(const Op& op, const uint8_t* regs) {
        if (++steps_ >= steps_between_rebases) rebase();
        dispatch_ = max(max(dispatched_, dispatches_.oldest()), window_.oldest());
        base_ = complete_ = zero();
        for (unsigned r = 0; r < op.address_regs; ++r) base_ = max(base_, load(&registers_[*regs++]));
        ready_ = base_;
        for (unsigned r = 0; r < op.other_regs; ++r) ready_ = max(ready_, load(&registers_[*regs++]));
    }

    LANES_INLINE_MEMBER void access(uint64_t address, uint32_t page, uint32_t line, bool is_store, const TlbOutcome& t, V walk,
                                    const DataOutcome& data) {
        ++steps_;
        HistoryLanes& queue = is_store ? stores_ : loads_;
        dispatch_ = max(dispatch_, queue.oldest());
        const V physical = translated(address, page, t, walk, max(dispatch_, base_));
        const V arrival = arrived(address, line, data, physical);
        if (is_store) {
            complete_ = max(complete_, physical);
            drained_ = max(max(drained_, retired_), max(ready_, arrival));
            queue.push(drained_);
            drained_ = drained_ + broadcast(1);
        } else {
            ready_ = max(ready_, arrival);
            queue.push(max(retired_, arrival));
        }
    }

    LANES_INLINE_MEMBER void end(const Op& op, const uint8_t* written) {
        const V result = max(dispatch_, ready_) + broadcast(op.latency);
        retired_ = max(retired_, max(complete_, result));
        dispatched_ = dispatch_;
        dispatches_.push(dispatch_ + broadcast(1));
        window_.push(retired_);
        for (unsigned r = 0; r < op.written_regs; ++r) store(&registers_[written[r]], result);
    }

    void elapsed(uint64_t cycles[lane_count]) const {
        alignas(64) uint32_t now[lane_count];
        store(reinterpret_cast<V*>(now), retired_);
        for (unsigned lane = 0; lane < lane_count; ++lane) cycles[lane] = origin_[lane] + now[lane];
    }

private:
    /// With latencies at their bounds (four loads of 100000 cycles) times stay below 2^32 in between.
    static constexpr unsigned steps_between_rebases = 4096;

    LANES_INLINE_MEMBER V translated(uint64_t address, uint32_t page, const TlbOutcome& t, V walk, V ready) {
        V* slot = pages_.at(address >> 12, page);
        V done = max(ready, load(slot));
        if (t.quiet) return done;
        done = add_if(t.looked_up, done, stlb_cycles_);
        const Mask walks = t.walk_4kb | t.walk_2mb | t.walk_1gb;
        if (!any(walks)) return done;
        done = select(walks, walkers_.serve(done, walk, walks), done);
        store(slot, select(walks, done, load(slot)));
        return done;
    }

    LANES_INLINE_MEMBER V arrived(uint64_t address, uint32_t line, const DataOutcome& data, V ready) {
        V* slot = lines_.at(address >> 6, line);
        const V pending = load(slot), from_l1d = max(ready + load_times_.l1d, pending);
        if (data.all_l1d) return from_l1d;
        if (limited_) {
            const V start = max(ready, memory_free_);
            memory_free_ = select(data.misses.l3, start + transfer_, memory_free_);
            ready = select(data.misses.l3, start, ready);
        }
        const V done = mshrs_.serve(ready, load_times_.of(data.misses), data.misses.l1d);
        store(slot, select(data.misses.l1d, done, pending));
        return select(data.misses.l1d, done, from_l1d);
    }

    void rebase() {
        steps_ = 0;
        const V origin = dispatched_;
        alignas(64) uint32_t by[lane_count];
        store(reinterpret_cast<V*>(by), origin);
        for (unsigned lane = 0; lane < lane_count; ++lane) origin_[lane] += by[lane];
        for (V* v : {&retired_, &dispatched_, &drained_, &memory_free_}) *v = max(*v, origin) - origin;
        for (Array<V>* a : {&registers_, &dispatches_.values(), &window_.values(), &loads_.values(), &stores_.values(),
                            &mshrs_.values(), &walkers_.values(), &lines_.values(), &pages_.values()})
            for (size_t i = 0; i < a->size(); ++i) store(&(*a)[i], max(load(&(*a)[i]), origin) - origin);
    }

    V stlb_cycles_, transfer_;
    bool limited_;
    LoadTimes load_times_;
    V retired_ = zero(), dispatched_ = zero(), drained_ = zero(), memory_free_ = zero();
    V dispatch_ = zero(), base_ = zero(), ready_ = zero(), complete_ = zero();
    Array<V> registers_;
    HistoryLanes dispatches_, window_, loads_, stores_;
    ServerLanes mshrs_, walkers_;
    InFlightLanes lines_, pages_;
    uint64_t origin_[lane_count] = {};
    unsigned steps_ = 0;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
