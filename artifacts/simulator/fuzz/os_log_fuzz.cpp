// os_log_fuzz.cpp - mapping logs of an operating system, whole and damaged, with and without a checksum that fits: what is accepted lies
// in the pools of the trace, is aligned and in order, and can be applied; a look-up then finds the last change.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "fuzz.h"
#include "os/live_pages.h"
#include "os/os_log.h"
#include "tessera/trace/pools.h"

using namespace tessera;
using namespace tessera::sim;

namespace {

/// FNV-1a of all bytes but the last eight (tessera/os/log.h).
void mend_checksum(std::string& log) {
    if (log.size() < 8) return;
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t i = 0; i < log.size() - 8; ++i) sum = (sum ^ static_cast<unsigned char>(log[i])) * 0x100000001b3;
    for (unsigned i = 0; i < 8; ++i) log[log.size() - 8 + i] = static_cast<char>(sum >> (8 * i));
}

trace::Header random_header(fuzz::Random& rng) {
    trace::Header header;
    header.checksum = "0123456789abcdef";
    if (rng() % 8 == 0) {  // pools at the borders of what a reader of traces accepts
        const uint64_t all = uint64_t{1} << 48, size = rng() % 2 ? all : 1 + rng() % 5000;
        header.pools.push_back({trace::PoolKind::anon, rng() % 2 ? 0 : all - size / 4096 * 4096, size / (rng() % 2 + 1), 0});
        if (trace::wrong_pools(header.pools, 0).empty()) return header;
        header.pools.clear();
    }
    for (const auto kind : {trace::PoolKind::heap, trace::PoolKind::anon})
        if (rng() % 8)
            header.pools.push_back(
                {kind, (1 + static_cast<uint64_t>(kind) * 64 + rng() % 4) * gib, (1 + rng() % 64) * mib + rng() % 2 * 4096, 0});
    return header;
}

std::string random_log(const trace::Header& of, const std::string& path, fuzz::Random& rng) {
    os::Header header;
    header.scenario = "fuzz", header.scenario_text = "memory_bytes = 1073741824\n", header.trace_checksum = of.checksum;
    for (const trace::Pool& pool : of.pools) header.pools.push_back({static_cast<uint8_t>(pool.kind), pool.base, pool.size_bytes});
    os::Writer writer(path, header);
    os::Record record;
    for (uint64_t left = rng() % 12; left > 0; --left) {
        const bool copied = record.kind == os::Kind::map && record.cause == static_cast<uint8_t>(os::Cause::copy);
        if (copied && rng() % 2) {
            record.kind = os::Kind::source, record.cause = rng() % os::sources, record.frame = 1 + rng() % 1000;
            writer.add(record);
        }
        record.block += rng() % 3, record.access += rng() % 5;
        record.kind = static_cast<os::Kind>(rng() % (rng() % 20 ? os::kinds - 1 : os::kinds));  // seldom a source of nothing
        record.cause = static_cast<uint8_t>(rng() % os::causes);
        record.pool = rng() % 2;
        record.large = record.kind == os::Kind::map && rng() % 2;
        const bool block = record.large || record.kind == os::Kind::split || record.kind == os::Kind::collapse;
        const uint64_t step = block ? 512 : 1;
        record.page = rng() % (20 * 512) / step * step, record.pages = block ? 512 : 1 + rng() % 30;
        record.frame = rng() % 100000 / step * step;
        record.tables.assign(rng() % 5, static_cast<uint32_t>(rng() % 1000));
        writer.add(record);
    }
    writer.finish();
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

const char* broken_rule(const Mapping& mapping, const std::vector<trace::Pool>& pools) {
    const OsLog& log = *mapping.log;
    LivePages pages(mapping.log, pools);
    if (pages.chunks().size() != 0) return "nothing is mapped before the first record";
    for (size_t i = 0; i < log.epochs.size(); ++i) {
        if (i > 0 && log.epochs[i].access <= log.epochs[i - 1].access) return "epochs ascend";
        const bool has_changes = !log.changes_of(i).empty();
        if (pages.change().empty() == has_changes) return "changes of pages change ranges";
        if (!has_changes && log.areas_of(i).empty()) return "an epoch has a change";
        for (const AreaChange& change : log.areas_of(i)) {
            const LiveArea* const area = pages.areas().at(change.area.range.begin);
            if (&change == &log.areas_of(i).back() && (area != nullptr) != change.live) return "the last change of an area holds";
        }
        if (!has_changes) continue;
        const OsChange& last = log.changes_of(i).back();
        MappedRow row;
        const LivePages::Found found = pages.find(last.page, row);
        if (found == LivePages::Found::outside) return "a change lies in a pool";
        if (last.kind == os::Kind::unmap && found != LivePages::Found::unmapped) return "an unmapped page is not found";
        if (last.kind == os::Kind::map && (found != LivePages::Found::mapped || row.frame + (last.page - row.page) != last.frame))
            return "a mapped page has its frame";
    }
    uint64_t behind = 0;
    for (const PageChunk& chunk : pages.chunks()) {
        if (chunk.pages == 0 || chunk.page < behind) return "chunks are sorted and disjoint";
        behind = chunk.page + chunk.pages;
    }
    return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
    fuzz::MemoryFile file;
    const std::string made = std::filesystem::temp_directory_path() / ("os_log_fuzz-" + std::to_string(getpid()) + ".oslog");
    trace::Header header;
    const auto make = [&](fuzz::Random& rng) {
        header = random_header(rng);
        std::string log = random_log(header, made, rng);
        if (rng() % 4)
            fuzz::mutate(log, rng, {"TSTOSLG1", "pool = ", "\n", " = ", "note.x = y\n", "blocks = 1\n", std::string_view("\0\0", 2)});
        if (rng() % 8) mend_checksum(log);
        return log;
    };
    const int status = fuzz::run_reader<Refusal>("os_log_fuzz", count, arguments, make, [&](const std::string& log, fuzz::Random&) {
        file.write(log);
        return broken_rule(read_os_log(file.path(), header), header.pools);
    });
    std::filesystem::remove(made);
    return status;
}
