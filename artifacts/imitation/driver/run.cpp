// run.cpp - the loop over the stream. Blocks are cut into segments without an event or a timer; inside one, only addresses are tested.
//
// An instruction that reads and writes the same bytes (`add [memory], register`) needs the right to write from its load on: processors
// fault once, for a write. So its load counts as a store here.
// An access that crosses a page (tessera/trace/crossing.h) needs both pages, the lower one first.
#include "driver/run.h"

#include <algorithm>

#include "driver/refusal.h"
#include "tessera/trace/crossing.h"

namespace tessera::os {
namespace {

constexpr uint64_t most_bytes = trace::max_access_bytes;

class Loop {
public:
    Loop(trace::Reader &reader, Kernel &kernel)
        : kernel_(kernel), events_(reader.events().list), blocks_(reader.blocks()), counts_(trace::instruction_counts(blocks_)) {}

    void frame(const trace::Frame &frame) {
        const size_t executions = frame.block_ids.size();
        size_t access = 0;
        for (size_t e = 0; e < executions;) {
            begin_block();
            const size_t most =
                next_ < events_.size() ? std::min<uint64_t>(executions - e, events_[next_].block - at_.block) : executions - e;
            size_t end = e, accesses = 0;
            do {
                instructions_ += counts_[frame.block_ids[end]];
                accesses += frame.access_counts[end];
                ++end;
            } while (end < e + most && instructions_ < kernel_.timers.next());
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
                          "the trace has " + std::to_string(at_.block) + " executions of blocks [os/event-block]",
                          "record the program again");
        kernel_.recorder.finish(at_);
    }

    At at() const { return at_; }
    uint64_t instructions() const { return instructions_; }

private:
    void begin_block() {
        for (; next_ < events_.size() && events_[next_].block <= at_.block; ++next_) kernel_.calls.call(at_, events_[next_]);
        if (instructions_ >= kernel_.timers.next()) kernel_.timers.run(at_, instructions_);
    }

    void segment(const trace::Frame &frame, size_t execution, size_t begin, size_t count) {
        const Rights &rights = kernel_.recorder.rights();
        const uint64_t *addresses = frame.addresses.data();
        const uint8_t *stores = frame.is_store.data();
        size_t block_begin = begin, block_end = begin + frame.access_counts[execution];
        At at = at_;
        for (size_t i = begin; i < begin + count; ++i) {
            // If the last byte that it may have is allowed, its length does not matter.
            if (__builtin_expect(rights.allow(addresses[i], stores[i] != 0) && rights.allow(addresses[i] + most_bytes - 1, stores[i] != 0),
                                 1))
                continue;
            while (i >= block_end) {
                at.access += block_end - block_begin, ++at.block;
                block_begin = block_end;
                block_end += frame.access_counts[++execution];
            }
            const size_t slot = i - block_begin;
            const bool write = stores[i] != 0 || writes_back(frame, execution, slot, i);
            const uint64_t page = addresses[i] >> 12;
            if (trace::crosses_page(blocks_[frame.block_ids[execution]], slot, addresses[i]))
                kernel_.accesses.access_two(at, page, write, slot);
            else if (!rights.allow(addresses[i], stores[i] != 0)) kernel_.accesses.access(at, page, write, slot, false);
        }
    }

    /// Whether the instruction of this load also stores there. `slot`: its place in the block; `access`: in the frame.
    bool writes_back(const trace::Frame &frame, size_t execution, size_t slot, size_t access) const {
        const std::vector<trace::MemorySlot> &slots = blocks_[frame.block_ids[execution]].slots;
        if (frame.access_counts[execution] != slots.size()) return false;
        for (size_t other = slot + 1; other < slots.size() && slots[other].insn == slots[slot].insn; ++other)
            if (slots[other].is_store && frame.addresses[access + other - slot] == frame.addresses[access]) return true;
        return false;
    }

    Kernel &kernel_;
    const std::vector<trace::Event> &events_;
    const std::vector<trace::StaticBlock> &blocks_;
    std::vector<uint32_t> counts_;
    size_t next_ = 0;
    At at_;
    uint64_t instructions_ = 0;
};

/// What the recording has not: memory that was mapped before its begin, gaps, an end, the kernel's accesses.
void describe(const trace::Header &of, const trace::Events &events, Header &header) {
    const auto note = [&](const char *key, const std::string &text) { header.notes.emplace_back(key, text); };
    uint64_t bytes = 0;  // the areas of the start; `brk` has the whole heap
    for (uint64_t i = 0; i < events.at_start; ++i) {
        const trace::Event &event = events.list[i];
        const bool maps = event.kind == trace::EventKind::map || event.kind == trace::EventKind::brk;
        if (maps && event.pool != trace::EventPool::outside) bytes += event.length_bytes;
    }
    if (bytes > 0)
        note(
            "recording.begin",
            std::to_string(bytes) +
                " bytes of the pools were mapped before the recording: pages that the program touched there fault at their first recorded access");
    if (of.region.windows > 1)
        note("recording.windows",
             std::to_string(of.region.windows) + ": the accesses between them are not in the trace, and cause no faults");
    if (!of.complete_roi) note("recording.end", "the recording ends before the region of interest");
    if (!of.kernel_modelled) note("recording.kernel_accesses", "the trace has none: pages that only system calls touch do not fault");
}

Header header_of(const trace::Header &of, const trace::Events &events, const Scenario &scenario, const Machine &machine,
                 const Places &places) {
    Header header;
    header.scenario = scenario.name;
    header.scenario_text = scenario.text;
    header.trace_checksum = of.checksum;
    header.pools = places.pools();
    header.blocks = of.block_executions, header.accesses = of.accesses, header.instructions = of.instructions;
    header.notes = machine.notes;
    header.notes.emplace_back("free_frames", std::to_string(machine.free_frames()));
    describe(of, events, header);
    return header;
}

}  // namespace

RunResult run(const std::string &path, const Scenario &scenario, const std::string &out,
              const std::function<void(uint64_t, uint64_t)> &progress) {
    trace::Reader reader = trace::Reader::open(path);
    if (!reader.has_events())
        throw Refusal("trace " + path, "it has no events: the calls by which the program maps memory [os/no-events]",
                      "record it again: tessera trace record --events --roi whole --kernel-accesses on");
    const Places places(reader.header().pools, reader.events());
    Machine machine(scenario, places.files(reader.events()));
    RunResult result;
    result.free_frames_before = machine.free_frames();
    Writer log(out, header_of(reader.header(), reader.events(), scenario, machine, places));
    Kernel kernel(scenario, machine, places, log);
    Loop loop(reader, kernel);
    trace::Frame frame;
    while (reader.next(frame)) {
        loop.frame(frame);
        if (progress) progress(loop.at().access, reader.header().accesses);
    }
    loop.finish();
    log.finish();
    result.counts = kernel.counts();
    result.swap_ins = machine.system.swap.counts.pswpin, result.swap_outs = machine.system.swap.counts.pswpout;
    result.blocks = loop.at().block, result.accesses = loop.at().access, result.instructions = loop.instructions();
    result.records = log.records();
    result.free_frames_after = machine.free_frames();
    return result;
}

}  // namespace tessera::os
