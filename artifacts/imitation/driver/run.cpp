// run.cpp - the loop over the stream. Blocks are cut into segments without an event or a timer; inside one, only addresses are tested.
//
// An instruction that reads and writes the same bytes (`add [memory], register`) needs the right to write from its load on: processors
// fault once, for a write. So its load counts as a store here.
#include "driver/run.h"

#include <algorithm>

#include "driver/refusal.h"

namespace tessera::os {
namespace {

class Loop {
public:
    Loop(trace::Reader& reader, Kernel& kernel)
        : kernel_(kernel), events_(reader.events().list), blocks_(reader.blocks()), counts_(trace::instruction_counts(blocks_)) {}

    void frame(const trace::Frame& frame) {
        const size_t executions = frame.block_ids.size();
        size_t access = 0;
        for (size_t e = 0; e < executions;) {
            begin_block();
            const size_t most = next_ < events_.size() ? std::min<uint64_t>(executions - e, events_[next_].block - at_.block) : executions - e;
            size_t end = e, accesses = 0;
            do {
                instructions_ += counts_[frame.block_ids[end]];
                accesses += frame.access_counts[end];
                ++end;
            } while (end < e + most && instructions_ < kernel_.next_wake());
            segment(frame, e, access, accesses);
            at_.block += end - e, at_.access += accesses;
            access += accesses, e = end;
        }
    }

    /// Calls behind the last block, and the areas.
    void finish() {
        begin_block();
        if (next_ < events_.size())
            throw Refusal("event at block " + std::to_string(events_[next_].block),
                          "the trace has " + std::to_string(at_.block) + " executions of blocks [os/event-block]", "record the program again");
        kernel_.finish(at_);
    }

    At at() const { return at_; }
    uint64_t instructions() const { return instructions_; }

private:
    void begin_block() {
        for (; next_ < events_.size() && events_[next_].block <= at_.block; ++next_) kernel_.call(at_, events_[next_]);
        if (instructions_ >= kernel_.next_wake()) kernel_.wake(at_, instructions_);
    }

    void segment(const trace::Frame& frame, size_t execution, size_t begin, size_t count) {
        const uint64_t* addresses = frame.addresses.data();
        const uint8_t* stores = frame.is_store.data();
        size_t block_begin = begin, block_end = begin + frame.access_counts[execution];
        At at = at_;
        for (size_t i = begin; i < begin + count; ++i) {
            if (__builtin_expect(kernel_.allows(addresses[i], stores[i] != 0), 1)) continue;
            while (i >= block_end) {
                at.access += block_end - block_begin, ++at.block;
                block_begin = block_end;
                block_end += frame.access_counts[++execution];
            }
            kernel_.access(at, addresses[i], stores[i] != 0 || writes_back(frame, execution, i - block_begin, i));
        }
    }

    /// Whether the instruction of this load also stores there. `slot`: its place in the block; `access`: in the frame.
    bool writes_back(const trace::Frame& frame, size_t execution, size_t slot, size_t access) const {
        const std::vector<trace::MemorySlot>& slots = blocks_[frame.block_ids[execution]].slots;
        if (frame.access_counts[execution] != slots.size()) return false;
        for (size_t other = slot + 1; other < slots.size() && slots[other].insn == slots[slot].insn; ++other)
            if (slots[other].is_store && frame.addresses[access + other - slot] == frame.addresses[access]) return true;
        return false;
    }

    Kernel& kernel_;
    const std::vector<trace::Event>& events_;
    const std::vector<trace::StaticBlock>& blocks_;
    std::vector<uint32_t> counts_;
    size_t next_ = 0;
    At at_;
    uint64_t instructions_ = 0;
};

Header header_of(const trace::Header& of, const Scenario& scenario, const Machine& machine) {
    Header header;
    header.scenario = scenario.name;
    header.scenario_text = scenario.text;
    header.trace_checksum = of.checksum;
    for (const trace::Pool& pool : of.pools) header.pools.push_back({static_cast<uint8_t>(pool.kind), pool.base, pool.size_bytes});
    header.blocks = of.block_executions, header.accesses = of.accesses, header.instructions = of.instructions;
    header.notes = machine.notes;
    header.notes.emplace_back("free_frames", std::to_string(machine.free_frames()));
    return header;
}

}  // namespace

RunResult run(const std::string& path, const Scenario& scenario, const std::string& out, const std::function<void(uint64_t, uint64_t)>& progress) {
    trace::Reader reader = trace::Reader::open(path);
    if (!reader.has_events())
        throw Refusal("trace " + path, "it has no events: the calls by which the program maps memory [os/no-events]",
                      "record it again: tessera trace record --events --roi whole --kernel-accesses on");
    Machine machine(scenario);
    RunResult result;
    result.free_frames_before = machine.free_frames();
    Writer log(out, header_of(reader.header(), scenario, machine));
    Kernel kernel(scenario, machine, reader.header().pools, log);
    Loop loop(reader, kernel);
    trace::Frame frame;
    while (reader.next(frame)) {
        loop.frame(frame);
        if (progress) progress(loop.at().access, reader.header().accesses);
    }
    loop.finish();
    log.finish();
    result.counts = kernel.counts();
    result.blocks = loop.at().block, result.accesses = loop.at().access, result.instructions = loop.instructions();
    result.records = log.records();
    result.free_frames_after = machine.free_frames();
    return result;
}

}  // namespace tessera::os
