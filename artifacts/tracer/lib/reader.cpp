// reader.cpp - checks the container when a trace is opened and each frame when it is read.
#include <zstd.h>

#include <cstring>
#include <memory>
#include <optional>

#include "container.h"
#include "file.h"
#include "frame_codec.h"
#include "tessera/trace/trace.h"

namespace tessera::trace {

struct Reader::Impl {
    File file;
    Header header;
    std::vector<StaticBlock> blocks;
    std::vector<IndexEntry> index;
    std::vector<uint64_t> first_instruction, first_access;
    std::string table_text;
    std::optional<std::string> events_text;
    std::optional<Events> events;
    SlotMap slots;
    size_t at = 0;
    std::string stored, text;           // reused between frames
    DecodeBuffers buffers;
    std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> zstd{ZSTD_createDCtx(), ZSTD_freeDCtx};

    explicit Impl(File opened) : file(std::move(opened)) {}

    [[noreturn]] void refuse(const std::string& part, uint64_t offset, const std::string& found) const {
        throw TraceError("trace " + file.path() + ", " + part + " at byte " + std::to_string(offset), found,
                         "copy the file again from its source, or record it again with `tessera trace record`");
    }
    [[noreturn]] void refuse_frame(size_t frame, const std::string& found) const {
        refuse("frame " + std::to_string(frame), index[frame].offset, found);
    }

    void open() {
        const uint64_t file_bytes = file.size();
        Preamble p;
        if (!file.read_at(0, &p, sizeof p))
            refuse("preamble", 0,
                   "the file has " + std::to_string(file_bytes) + " bytes, but a trace has at least " + std::to_string(sizeof p));
        if (const char older = older_version(p.magic))
            throw TraceError("trace " + file.path(),
                             std::string("its format is version ") + older + ", and this program reads version " + version +
                                 " (sizes of accesses as executed, atomic instructions as a load and a store)",
                             "record it again with `tessera trace record`, or import it again with `tessera trace import`");
        if (p.magic != file_magic)
            refuse("preamble", 0, "this is not a Tessera trace (its first 8 bytes differ), or its recording never finished");
        if (p.self_digest != self_digest(p)) refuse("preamble", 0, "damaged (checksum differs)");
        const uint64_t index_bytes = p.frames * sizeof(IndexEntry);
        uint64_t expected = p.tail_offset + p.header_bytes + p.table_bytes + index_bytes;
        const bool sums = p.tail_offset >= sizeof p && p.tail_offset <= file_bytes && p.header_bytes <= file_bytes &&
                          p.table_bytes <= file_bytes && p.frames <= file_bytes / sizeof(IndexEntry);  // else the sum could wrap around
        if (sums && expected < file_bytes) expected += event_bytes(p, file_bytes);
        if (!sums || expected != file_bytes || p.table_text_bytes > max_table_bytes)
            refuse("end of file", file_bytes, "the trace should have " + std::to_string(expected) + " bytes: truncated or extended");
        std::string tail(file_bytes - p.tail_offset, '\0');
        if (!file.read_at(p.tail_offset, tail.data(), tail.size()) || digest(tail.data(), tail.size()) != p.tail_digest)
            refuse("header, block table and index", p.tail_offset, "damaged (checksum differs)");

        std::optional<EventSizes> sizes;
        const std::string wrong = header_from_text(tail.substr(0, p.header_bytes), header, sizes);
        if (!wrong.empty()) refuse("header", p.tail_offset, wrong);
        const char* const table = tail.data() + p.header_bytes;
        if (ZSTD_getFrameContentSize(table, p.table_bytes) != p.table_text_bytes)  // before so many bytes are asked for
            refuse("block table", p.tail_offset + p.header_bytes, "its size differs from the size in the preamble");
        table_text.resize(p.table_text_bytes);
        const size_t got = ZSTD_decompressDCtx(zstd.get(), table_text.data(), table_text.size(), table, p.table_bytes);
        if (got != table_text.size() || !table_from_text(table_text, blocks))
            refuse("block table", p.tail_offset + p.header_bytes, "malformed");
        for (size_t i = 0; i < blocks.size(); ++i) {
            if (const std::string wrong = wrong_slots(blocks[i]); !wrong.empty())
                throw TraceError("trace " + file.path() + ", block " + std::to_string(i), wrong,
                                 "record it again with `tessera trace record`");
            slots.add(blocks[i]);
        }
        if (sizes) open_events(p, tail, *sizes);

        index.resize(p.frames);
        if (p.frames) std::memcpy(index.data(), tail.data() + tail.size() - index_bytes, index_bytes);
        check_index(p);
    }

    /// Of a file that is longer than a trace without events.
    uint64_t event_bytes(const Preamble& p, uint64_t file_bytes) {
        std::string text(p.header_bytes, '\0');
        const uint64_t bytes = file.read_at(p.tail_offset, text.data(), text.size()) ? event_bytes_of(text) : 0;
        return bytes <= file_bytes ? bytes : 0;
    }

    void open_events(const Preamble& p, const std::string& tail, const EventSizes& sizes) {
        const uint64_t at = p.header_bytes + p.table_bytes, room = tail.size() - at - p.frames * sizeof(IndexEntry);
        const auto wrong = [&](const std::string& found) { refuse("events", p.tail_offset + at, found); };
        if (sizes.stored_bytes != room || ZSTD_getFrameContentSize(tail.data() + at, room) != sizes.text_bytes)
            wrong("their size differs from the size in the header");
        events_text.emplace(sizes.text_bytes, '\0');
        const size_t got = ZSTD_decompressDCtx(zstd.get(), events_text->data(), events_text->size(), tail.data() + at, room);
        events.emplace();
        if (got != events_text->size() || !events_from_text(*events_text, *events)) wrong("malformed");
        if (events->list.size() != sizes.count) wrong("their number differs from the number in the header");
        if (const std::string rule = wrong_events(*events, header); !rule.empty()) wrong(rule);
    }

    void check_index(const Preamble& p) {
        uint64_t offset = sizeof(Preamble), accesses = 0, instructions = 0;
        for (size_t i = 0; i < index.size(); ++i) {
            const IndexEntry& entry = index[i];
            const bool sane = entry.offset == offset && entry.stored_bytes <= p.tail_offset - offset &&
                              entry.text_bytes <= max_frame_text_bytes && entry.accesses <= max_frame_accesses &&
                              entry.executions <= max_frame_executions;
            if (!sane) refuse("index entry " + std::to_string(i), p.tail_offset, "its offset or sizes are impossible");
            first_access.push_back(accesses);
            first_instruction.push_back(instructions);
            offset += entry.stored_bytes;
            accesses += entry.accesses;
            instructions += entry.instructions;
        }
        if (offset != p.tail_offset || accesses != header.accesses || instructions != header.instructions)
            refuse("index", p.tail_offset, "its totals disagree with the header");
    }

    void decode(size_t i, Frame& out) {
        const IndexEntry& entry = index[i];
        stored.resize(entry.stored_bytes);
        if (!file.read_at(entry.offset, stored.data(), stored.size())) refuse_frame(i, "the file ends inside this frame");
        if (digest(stored.data(), stored.size()) != entry.stored_digest) refuse_frame(i, "damaged (checksum differs)");
        if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != entry.text_bytes)
            refuse_frame(i, "its zstd data has another size than the index says");
        text.resize(entry.text_bytes);
        const size_t got = ZSTD_decompressDCtx(zstd.get(), text.data(), text.size(), stored.data(), stored.size());
        if (got != text.size()) refuse_frame(i, "its zstd data has another size than the index says");
        const FrameShape shape{entry.executions, entry.accesses, entry.instructions};
        if (const char* wrong = decode_frame(text, shape, slots, buffers, out)) refuse_frame(i, wrong);
        out.index = i;
        out.first_access = first_access[i];
        out.first_instruction = first_instruction[i];
    }
};

Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Reader Reader::open(const std::string& path) {
    auto impl = std::make_unique<Impl>(File::open_read(path));
    impl->open();
    return Reader(std::move(impl));
}

const Header& Reader::header() const { return impl_->header; }
const std::vector<StaticBlock>& Reader::blocks() const { return impl_->blocks; }
size_t Reader::frame_count() const { return impl_->index.size(); }
bool Reader::has_events() const { return impl_->events.has_value(); }

const Events& Reader::events() const {
    if (!impl_->events)
        throw TraceError("events of trace " + impl_->file.path(), "it was recorded without the program's calls to memory management",
                         "record it again: tessera trace record --events --roi whole --kernel-accesses on");
    return *impl_->events;
}

bool Reader::next(Frame& out) {
    if (impl_->at == impl_->index.size()) return false;
    impl_->decode(impl_->at, out);
    ++impl_->at;
    return true;
}

void Reader::seek(size_t index) {
    if (index >= frame_count())
        throw TraceError("trace " + impl_->file.path() + ", frame " + std::to_string(index),
                         "the trace has " + std::to_string(frame_count()) + " frames", "use a frame number below that");
    impl_->at = index;
}

void Reader::verify(const std::function<void(const Frame&)>& each) {
    Frame frame;
    for (size_t i = 0; i < frame_count(); ++i) {
        impl_->decode(i, frame);
        if (frame_digest(content_of(frame)) != impl_->index[i].content_digest)
            impl_->refuse_frame(i, "its decoded content differs from the recorded content");
        if (each) each(frame);
    }
    if (content_checksum(impl_->table_text, impl_->index, impl_->events_text) != impl_->header.checksum)
        impl_->refuse("header", 0, "the trace's checksum differs from its content");
}

}  // namespace tessera::trace
