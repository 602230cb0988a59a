// writer.cpp - collects executions into frames; a full one goes to the encoder while another is filled.
#include <algorithm>
#include <memory>
#include <optional>

#include "bytes.h"
#include "container.h"
#include "file.h"
#include "frame_encoder.h"
#include "tessera/trace/pools.h"
#include "tessera/trace/file_replacement.h"
#include "tessera/trace/trace.h"

namespace tessera::trace {

struct Writer::Impl {
    std::string path;
    FileReplacement replacement;
    File file;
    std::vector<StaticBlock> blocks;
    BlockTable table;
    std::shared_ptr<const BlockTable> submitted_table;  ///< a copy for the encoder: blocks come while it works
    uint64_t accesses = 0, instructions = 0, executions = 0;
    FrameEncoder encoder;
    CollectedFrame* frame;  ///< being filled
    std::optional<Events> events;

    Impl(const std::string& target)
        : path(target),
          replacement(target),
          file(File::open_write(replacement.path())),
          encoder(file, sizeof(Preamble)),
          frame(&encoder.take()) {}

    void flush() {
        if (frame->executions == 0) return;
        accesses += frame->accesses;
        instructions += frame->instructions;
        executions += frame->executions;
        if (!submitted_table) submitted_table = std::make_shared<const BlockTable>(table);
        encoder.submit(submitted_table);
    }
    void next_frame() {
        flush();
        frame = &encoder.take();
    }
};

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

Writer Writer::create(const std::string& path) { return Writer(std::make_unique<Impl>(path)); }

uint32_t Writer::add_block(StaticBlock block) {
    if (block.insns.empty())
        throw TraceError("block at " + std::to_string(block.pc), "no instructions", "give it at least one, which makes its accesses");
    if (block.slots.size() > UINT16_MAX)
        throw TraceError("block at " + std::to_string(block.pc),
                         std::to_string(block.slots.size()) + " memory slots, but a block has at most 65535", "split the block");
    if (const std::string wrong = wrong_slots(block); !wrong.empty())
        throw TraceError("block at " + std::to_string(block.pc), wrong, "correct the program that writes this trace");
    impl_->table.slots.add(block);
    impl_->table.is_kernel.push_back(is_kernel_block(block));
    impl_->table.any_kernel |= is_kernel_block(block);
    impl_->submitted_table.reset();
    impl_->blocks.push_back(std::move(block));
    return static_cast<uint32_t>(impl_->blocks.size() - 1);
}

void Writer::set_length(uint32_t block, size_t insn, uint8_t length_bytes) {
    std::vector<StaticBlock>& blocks = impl_->blocks;
    if (block >= blocks.size() || insn >= blocks[block].insns.size())
        throw TraceError("length of instruction " + std::to_string(insn) + " of block " + std::to_string(block), "there is none",
                         "register blocks with add_block first");
    blocks[block].insns[insn].length_bytes = length_bytes;
}

Writer::Room Writer::start(uint32_t block, uint16_t count) {
    Impl& w = *impl_;
    if (block >= w.blocks.size()) [[unlikely]]
        throw TraceError("append to trace " + w.path, "block " + std::to_string(block) + " of " + std::to_string(w.blocks.size()),
                         "register blocks with add_block first");
    if (w.frame->accesses + count > max_frame_accesses || w.frame->executions == max_frame_executions) [[unlikely]]
        w.next_frame();
    CollectedFrame& frame = *w.frame;
    frame.block_ids[frame.executions] = block;
    frame.access_counts[frame.executions++] = count;
    frame.instructions += w.table.slots.instructions(block);
    const size_t at = frame.accesses;
    frame.accesses += count;
    return {frame.addresses.data() + at, frame.is_store.data() + at};
}

void Writer::append(uint32_t block, const uint64_t* addresses, const uint8_t* is_store, uint16_t count) {
    const Room room = start(block, count);
    std::copy_n(addresses, count, room.addresses);
    for (uint16_t i = 0; i < count; ++i) room.is_store[i] = is_store[i] != 0;
}

uint64_t Writer::block_executions() const { return impl_->executions + impl_->frame->executions; }

void Writer::set_events(Events events) { impl_->events = std::move(events); }

void Writer::finish(Header header) {
    Impl& w = *impl_;
    w.flush();
    w.encoder.wait();
    const std::vector<IndexEntry>& index = w.encoder.index();
    const FrameTotals totals = w.encoder.totals();
    const std::string table_text = table_to_text(w.blocks);
    header.accesses = w.accesses;
    header.stores = totals.stores;
    header.instructions = w.instructions;
    header.block_executions = w.executions;
    header.kernel_accesses = totals.kernel_accesses;
    header.distinct_4kb_pages = totals.pages.count();
    for (Pool& pool : header.pools) pool.distinct_4kb_pages = totals.pages.count(pool.base, pool.base + pool.size_bytes);
    if (const std::string wrong = wrong_pools(header.pools, header.distinct_4kb_pages); !wrong.empty())
        throw TraceError("pools of trace " + w.path, wrong, "correct the program that writes this trace");
    std::optional<std::string> events_text;
    if (w.events) {
        if (const std::string wrong = wrong_events(*w.events, header); !wrong.empty())
            throw TraceError("events of trace " + w.path, wrong, "correct the program that writes this trace");
        events_text = events_to_text(*w.events);
    }
    header.checksum = content_checksum(table_text, index, events_text);

    std::string table, events;
    table.resize(compress(table_text, table));
    std::optional<EventSizes> sizes;
    if (events_text) {
        events.resize(compress(*events_text, events));
        sizes = {w.events->list.size(), events.size(), events_text->size()};
    }
    const std::string header_text = header_to_text(header, sizes);
    std::string tail = header_text + table + events;
    for (const IndexEntry& entry : index) put(tail, entry);

    Preamble preamble;
    preamble.tail_offset = w.encoder.offset();
    preamble.header_bytes = header_text.size();
    preamble.table_bytes = table.size();
    preamble.table_text_bytes = table_text.size();
    preamble.frames = index.size();
    preamble.tail_digest = digest(tail.data(), tail.size());
    preamble.self_digest = self_digest(preamble);
    w.file.write_at(w.encoder.offset(), tail.data(), tail.size());
    w.file.write_at(0, &preamble, sizeof preamble);
    w.file.close();
    w.replacement.commit();
}

}  // namespace tessera::trace
