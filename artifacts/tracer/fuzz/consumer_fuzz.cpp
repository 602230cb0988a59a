// consumer_fuzz.cpp - runs the commands that use a trace (touches, cut, export, info) on files that the reader accepts, with pools that
// a hostile writer chose, and compares what they write with slow code.
#include <fcntl.h>

#include <map>
#include <set>
#include <sstream>

#include "cli/champsim_record.h"
#include "cli/commands.h"
#include "traces.h"

using namespace tessera;

namespace {

std::vector<uint64_t> addresses_of(const std::string& path) {
    trace::Reader reader = trace::Reader::open(path);
    std::vector<uint64_t> all;
    trace::Frame frame;
    while (reader.next(frame)) all.insert(all.end(), frame.addresses.begin(), frame.addresses.end());
    return all;
}

bool is_in(const trace::Pool& pool, uint64_t address) {
    const auto end = static_cast<unsigned __int128>(pool.base) + pool.size_bytes;
    return address >= pool.base && address < end;
}

/// The first and the last byte of each access; of a string instruction, which stays in its line, the first alone.
std::vector<std::pair<uint64_t, uint64_t>> spans_of(const std::string& path) {
    trace::Reader reader = trace::Reader::open(path);
    std::vector<std::pair<uint64_t, uint64_t>> all;
    trace::Frame frame;
    while (reader.next(frame)) {
        size_t at = 0;
        for (size_t e = 0; e < frame.block_ids.size(); ++e) {
            const trace::StaticBlock& block = reader.blocks()[frame.block_ids[e]];
            for (size_t number = 0; number < frame.access_counts[e]; ++number, ++at) {
                uint64_t bytes = 1;
                if (!block.slots.empty()) {
                    const trace::MemorySlot& slot = number < block.slots.size() ? block.slots[number] : block.slots.back();
                    if (block.insns[slot.insn].string == trace::StringPart::none) bytes = slot.size_bytes;
                }
                all.emplace_back(frame.addresses[at], frame.addresses[at] + bytes - 1);
            }
        }
    }
    return all;
}

std::string slow_touches(const trace::Header& header, const std::vector<std::pair<uint64_t, uint64_t>>& spans) {
    std::set<std::pair<int, uint64_t>> seen;
    std::ostringstream out;
    out << "pool,page,access\n";
    for (size_t i = 0; i < spans.size(); ++i) {
        const auto [first, last] = spans[i];
        std::vector<uint64_t> bytes{first};
        if (last / 4096 != first / 4096) bytes.push_back(last / 4096 * 4096);
        for (const uint64_t byte : bytes)
            for (const trace::Pool& pool : header.pools) {
                const bool heap = pool.kind == trace::PoolKind::heap;
                if (is_in(pool, byte) && seen.insert({heap, byte / 4096}).second)
                    out << (heap ? "brk," : "mmap,") << byte / 4096 - pool.base / 4096 << ',' << i << '\n';
            }
    }
    return out.str();
}

/// Standard output goes to a file while it lives.
class Captured {
public:
    explicit Captured(const std::string& path) : kept_(dup(1)) {
        std::fflush(stdout);
        const int file = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
        dup2(file, 1);
        close(file);
    }
    ~Captured() {
        std::fflush(stdout);
        dup2(kept_, 1);
        close(kept_);
    }

private:
    int kept_;
};

class Commands {
public:
    ~Commands() { std::remove(out_.c_str()); }

    const char* broken_rule(const std::string& path, const trace::Reader& reader, fuzz::Random& rng) {
        const trace::Header& header = reader.header();
        const std::vector<uint64_t> addresses = addresses_of(path);
        trace::cli::touches(path, out_);
        if (trace::testing::read_bytes(out_) != slow_touches(header, spans_of(path))) return "touches are those of a slow search";
        if (!addresses.empty()) {
            const uint64_t start = rng() % addresses.size(), count = 1 + rng() % (addresses.size() - start);
            trace::cli::cut(path, out_, start, count);
            trace::Reader part = trace::Reader::open(out_);
            part.verify();
            const std::vector<uint64_t> got = addresses_of(out_);
            if (std::search(addresses.begin(), addresses.end(), got.begin(), got.end()) == addresses.end())
                return "a cut is a part of the trace";
            if (fuzz::broken_pools(part.header()) != nullptr || part.header().pools.size() != header.pools.size())
                return "a cut has the pools of the trace";
        }
        trace::cli::export_champsim(path, out_);
        if (trace::testing::read_bytes(out_).size() % sizeof(trace::cli::ChampsimRecord) != 0) return "an export has whole records";
        return broken_description(path, header, addresses, rng() % 2);
    }

private:
    const char* broken_description(const std::string& path, const trace::Header& header, const std::vector<uint64_t>& addresses,
                                   bool json) {
        {
            const Captured captured(out_);
            trace::cli::info(path, json);
        }
        const std::string text = trace::testing::read_bytes(out_);
        uint64_t outside = 0;
        for (const uint64_t address : addresses) {
            bool inside = false;
            for (const trace::Pool& pool : header.pools) inside |= is_in(pool, address);
            outside += !inside;
        }
        const std::string wanted =
            (json ? "\"outside_accesses\": " : "outside the pools   ") + std::to_string(outside) + (json ? "," : " accesses");
        if (text.find(wanted) == std::string::npos) return "info has the accesses outside the pools";
        for (const unsigned char c : text)
            if ((c < ' ' && c != '\n') || c == 0x7f) return "info prints no control characters";
        return nullptr;
    }

    std::string out_ = trace::testing::temporary_path("consumer");
};

}  // namespace

int main(int count, char** arguments) {
    Commands commands;
    return fuzz::run_consumer(
        "consumer_fuzz", count, arguments,
        [&](const std::string& path, const trace::Reader& reader, fuzz::Random& rng) { return commands.broken_rule(path, reader, rng); });
}
