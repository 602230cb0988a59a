// traces.h - traces whose header has pools that a hostile writer chose, for fuzzers of programs that use an opened trace.
#pragma once

#include "container.h"
#include "fuzz.h"
#include "lib/sha256.h"
#include "tests/random_events.h"
#include "tessera/trace/trace.h"

namespace tessera::fuzz {

/// Whole traces to change, with and without events and the counts of a region; `address_bits` of each address are random.
inline std::vector<Parts> good_traces(unsigned address_bits = 64) {
    std::vector<Parts> good;
    for (uint64_t seed = 0; seed < 4; ++seed) {
        const std::string path = trace::testing::temporary_path("fuzz");
        trace::Header header = trace::testing::plain_header();
        if (seed == 3) header.region = {true, 2, 300, 900, 5000, 9000, false};
        const size_t executions = seed == 0 ? 20 : 700;
        trace::testing::Stream stream = trace::testing::random_stream(seed, executions, 1 + static_cast<int>(seed) * 5);
        for (trace::testing::Execution& execution : stream.executions)
            for (uint64_t& address : execution.addresses) address &= UINT64_MAX >> (64 - address_bits);
        if (seed % 2 == 0) trace::testing::write_stream(path, stream, header);
        else trace::testing::write_stream(path, stream, trace::testing::random_events(seed, 30 * seed, executions), header);
        good.push_back(take_apart(trace::testing::read_bytes(path)));
        std::remove(path.c_str());
    }
    return good;
}

/// The header with a sha256 line that fits.
inline std::string resealed(std::string header) {
    header.resize(header.rfind("sha256="));
    return header + "sha256=" + trace::sha256_hex(header) + '\n';
}

inline std::string pool_number(Random& rng, bool is_base) {
    static constexpr const char* borders[] = {"18446744073709551615",
                                              "-1",
                                              "281474976710656",
                                              "281474976710655",
                                              "18446744073709547520",
                                              "281474976706560",
                                              "140737488355328",
                                              "9223372036854775808",
                                              "4096",
                                              "1"};
    switch (rng() % 8) {
        case 0: return borders[rng() % std::size(borders)];
        case 1: return std::to_string(border(rng));
        case 2: return std::to_string(uint64_t{1} << (12 + rng() % 37));
        case 3: return "0";
        default:
            return is_base ? std::to_string((0x3fc0000000 + rng() % 4 * 0x40000000) + (rng() % 2 ? 0x3f4000000000 : 0))
                           : std::to_string(4096 * (1 + rng() % 300000) + rng() % 3 % 2);
    }
}

/// A file whose pools have numbers at the borders, or whose header or events are damaged; its checksums fit.
inline std::string with_hostile_pools(const Parts& good, Random& rng) {
    Parts parts = good;
    if (rng() % 4 != 0) {
        for (size_t at; (at = parts.header.find("\npool=")) != std::string::npos;)
            parts.header.erase(at, parts.header.find('\n', at + 1) - at);
        std::string lines;
        for (const char* kind : {"brk ", "mmap "}) {
            if (rng() % 4 == 0) continue;
            const std::string size = pool_number(rng, false);
            lines += std::string("pool=") + kind + pool_number(rng, true) + ' ' + size + ' ' +
                     (rng() % 2   ? "0"
                      : rng() % 2 ? size
                                  : pool_number(rng, false)) +
                     ' ' + (rng() % 4 ? "0" : pool_number(rng, false)) + '\n';
        }
        parts.header.insert(parts.header.rfind("sha256="), lines);
        parts.header = resealed(parts.header);
    } else if (parts.events && rng() % 2) {
        mutate(*parts.events, rng, {});
    } else {
        mutate(parts.header, rng, {"-1", "18446744073709551615", "281474976710656", "pool=mmap ", " "});
        if (parts.header.find("sha256=") != std::string::npos) parts.header = resealed(parts.header);
    }
    return seal(parts, [](trace::Preamble&, std::vector<trace::IndexEntry>&) {});
}

/// The rule of pools in wider numbers, as text; null if it holds.
inline const char* broken_pools(const trace::Header& header) {
    using Wide = unsigned __int128;
    Wide inside = 0;
    for (const trace::Pool& pool : header.pools) {
        const Wide end = Wide{pool.base} + pool.size_bytes;
        if (end > Wide{1} << 48) return "pools end at or below 2^48";
        if (pool.base & 4095) return "pools begin at pages";
        if (pool.used_bytes > pool.size_bytes) return "pools have at most their size in use";
        if (Wide{pool.distinct_4kb_pages} * 4096 >= Wide{pool.size_bytes} + 4096) return "pools have no more touched pages than pages";
        for (const trace::Pool& other : header.pools)
            if (&other != &pool && (other.kind == pool.kind || (Wide{other.base} + other.size_bytes > pool.base && end > other.base)))
                return "pools are of different kinds and apart";
        inside += pool.distinct_4kb_pages;
    }
    return inside > header.distinct_4kb_pages ? "pools have no more touched pages than the trace" : nullptr;
}

/// What a fuzzer of a consumer does: `use` runs the consumer on each file that the reader accepts, and returns a broken rule or null.
/// TraceErrors of `use` count as refusals.
template <typename Use>
int run_consumer(const char* name, int count, char** arguments, Use use, unsigned address_bits = 64) {
    const std::vector<Parts> good = good_traces(address_bits);
    MemoryFile file;
    const auto make = [&](Random& rng) { return with_hostile_pools(good[rng() % good.size()], rng); };
    return run_reader<trace::TraceError>(name, count, arguments, make, [&](const std::string& bytes, Random& rng) -> const char* {
        file.write(bytes);
        const trace::Reader reader = trace::Reader::open(file.path());
        const char* const broken = broken_pools(reader.header());
        return broken ? broken : use(file.path(), reader, rng);
    });
}

}  // namespace tessera::fuzz
