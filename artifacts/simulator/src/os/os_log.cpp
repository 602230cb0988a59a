#include "os/os_log.h"

#include <algorithm>

#include "base/error.h"
#include "tessera/trace/pools.h"

namespace tessera::sim {
namespace {

constexpr uint64_t frame_limit = uint64_t{1} << 36;
constexpr uint32_t no_table = ~uint32_t{0};  ///< no frame: LivePages does not know the table
constexpr const char* again = "make the log again: tessera lab os run --help";

[[noreturn]] void refuse(const std::string& path, const std::string& found, const char* remedy = again) {
    throw Refusal("log " + path, found, remedy);
}

void check_trace(const std::string& path, const os::Header& log, const trace::Header& header) {
    bool same = log.trace_checksum == header.checksum && log.pools.size() >= header.pools.size();
    for (size_t i = 0; same && i < header.pools.size(); ++i)
        same = log.pools[i] == os::Pool{static_cast<uint8_t>(header.pools[i].kind), header.pools[i].base, header.pools[i].size_bytes};
    if (!same)
        refuse(path,
               "it belongs to another trace, with checksum " + log.trace_checksum.substr(0, 16) + ", and this trace has " +
                   header.checksum.substr(0, 16) + " [os/other-trace]",
               "give the trace of the log, or make a log of this trace: tessera lab os run --help");
}

const os::Pool& pool_of(const std::string& path, const os::Record& record, const std::vector<os::Pool>& pools) {
    for (const os::Pool& pool : pools)
        if (pool.kind == record.pool) {
            const uint64_t pages = trace::pages_in(pool.size_bytes);
            if (record.pages == 0 || record.pages > pages || record.page > pages - record.pages)
                refuse(path, "record at block " + std::to_string(record.block) + ": page " + std::to_string(record.page) +
                                 " is outside its pool [os/log-range]");
            return pool;
        }
    refuse(path, "record at block " + std::to_string(record.block) + ": the trace has no such pool [os/log-range]");
}

/// Those behind the pools of the trace: their kinds go on, and they lie on pages of user space, apart from all others.
std::vector<trace::Pool> more_pools(const std::string& path, const std::vector<os::Pool>& pools, size_t of_trace) {
    constexpr uint64_t user_end = uint64_t{1} << 47;
    std::vector<trace::Pool> found;
    for (size_t i = of_trace; i < pools.size(); ++i) {
        const os::Pool& pool = pools[i];
        bool fine = pool.kind >= os::file_pool && pool.base % 4096 == 0 && pool.base < user_end && pool.size_bytes <= user_end - pool.base;
        for (size_t other = 0; other < i; ++other)
            fine = fine && pool.kind != pools[other].kind &&
                   (pool.base >= pools[other].base + pools[other].size_bytes || pools[other].base >= pool.base + pool.size_bytes);
        if (!fine) refuse(path, "a pool beside those of the trace overlaps another one [os/log-range]");
        found.push_back({trace::PoolKind::anon, pool.base, pool.size_bytes, 0});
    }
    return found;
}

void check_record(const std::string& path, const os::Record& record, uint64_t first_page) {
    const bool aligned = record.large || record.kind == os::Kind::split || record.kind == os::Kind::collapse;
    const uint64_t unit = record.gigantic ? uint64_t{1} << 18 : 512;
    const bool fine = record.frame < frame_limit && record.frame + record.pages <= frame_limit && record.tables.size() <= 4 &&
                      std::find(record.tables.begin(), record.tables.end(), no_table) == record.tables.end() &&
                      (!aligned || ((first_page + record.page) % unit == 0 && record.pages % unit == 0 && record.frame % unit == 0));
    if (record.kind != os::Kind::unmap && !fine)
        refuse(path, "record at block " + std::to_string(record.block) + ", page " + std::to_string(record.page) +
                         ": frames or alignment [os/log-range]");
}

/// The records of a log, one after the other, as changes of pages and of areas.
class Changes {
public:
    Changes(const std::string& path, const std::vector<os::Pool>& pools, OsLog& log) : path_(path), pools_(pools), log_(log) {}

    void add(const os::Record& record) {
        switch (record.kind) {
            case os::Kind::call_begin: call_ = static_cast<trace::EventKind>(record.cause); break;
            case os::Kind::call: call_.reset(); break;
            case os::Kind::area_live:
            case os::Kind::area_gone: add_area(record); break;
            case os::Kind::source: add_source(record); break;
            case os::Kind::area:
            case os::Kind::count: break;
            default: add_pages(record);
        }
    }

private:
    void add_pages(const os::Record& record) {
        const uint64_t first_page = pool_of(path_, record, pools_).base >> 12;
        check_record(path_, record, first_page);
        enter(record);
        log_.changes.push_back({first_page + record.page, record.pages, record.frame, static_cast<uint32_t>(log_.tables.size()),
                                static_cast<uint8_t>(record.tables.size()), record.kind, record.large, record.gigantic, record.is_fault(),
                                static_cast<os::Cause>(record.cause)});
        log_.tables.insert(log_.tables.end(), record.tables.begin(), record.tables.end());
        log_.faults += record.is_fault();
    }
    void add_area(const os::Record& record) {
        const uint64_t first = (pool_of(path_, record, pools_).base >> 12) + record.page;
        enter(record);
        log_.areas.push_back({{{VirtAddr(first << 12), VirtAddr((first + record.pages) << 12)}, static_cast<uint32_t>(record.frame)},
                              record.kind == os::Kind::area_live,
                              call_});
    }
    /// What the copy before it was made of.
    void add_source(const os::Record& record) {
        OsChange* const copy = log_.changes.empty() ? nullptr : &log_.changes.back();
        if (copy == nullptr || !copy->fault || (copy->cause != os::Cause::copy && copy->cause != os::Cause::copy_read) ||
            record.frame == os::zero_frame || record.frame >= frame_limit || record.cause >= os::sources)
            refuse(path_, "record at block " + std::to_string(record.block) + ": a source without a copy or a frame [os/log-range]");
        copy->from = static_cast<os::Source>(record.cause);
        copy->source = record.frame;
    }
    /// The record's epoch is the last one.
    void enter(const os::Record& record) {
        std::vector<OsEpoch>& epochs = log_.epochs;
        if (!epochs.empty() && record.access < epochs.back().access) refuse(path_, "records are not in order [os/log-order]");
        if (epochs.empty() || record.access != epochs.back().access)
            epochs.push_back({record.access, log_.changes.size(), log_.areas.size()});
    }

    const std::string& path_;
    const std::vector<os::Pool>& pools_;
    OsLog& log_;
    std::optional<trace::EventKind> call_;  ///< that is under way
};

}  // namespace

Mapping read_os_log(const std::string& path, const trace::Header& header) try {
    os::Reader reader(path);
    check_trace(path, reader.header(), header);
    auto log = std::make_shared<OsLog>();
    log->more_pools = more_pools(path, reader.header().pools, header.pools.size());
    log->changes.reserve(reader.records());
    Changes changes(path, reader.header().pools, *log);
    for (os::Record record; reader.next(record);) changes.add(record);
    return {layout_name(path), {}, std::move(log)};
} catch (const os::LogError& error) {
    throw Refusal(error.problem());
}

}  // namespace tessera::sim
