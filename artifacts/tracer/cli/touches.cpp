// touches.cpp - writes the order in which a trace first touches the 4KB pages of its pools, as CSV.
//
// A row is the first access to a page: the pool, the page's number from the start of the pool, and the number of the access in the
// whole trace. An access that crosses a page touches the next one, too. Pages outside the pools (stack, program, libraries) are left out.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "tessera/trace/crossing.h"
#include "tessera/trace/page_set.h"
#include "tessera/trace/pools.h"
#include "tessera/trace/file_replacement.h"

namespace tessera::trace::cli {

void touches(const std::string& in, const std::string& out) {
    Reader reader = Reader::open(in);
    PageSet seen;  // of all pools: they begin at 4KB pages and do not overlap, so no page is of two
    FileReplacement replacement(out);
    const auto fail = [&] { throw TraceError("write first touches " + out, std::strerror(errno), "free disk space, or write elsewhere"); };
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(replacement.path().c_str(), "wb"), std::fclose);
    if (!file) fail();
    std::fputs("pool,page,access\n", file.get());
    const auto touch = [&](uint64_t address, uint64_t access) {
        const Pool* const pool = pool_at(reader.header().pools, address);
        if (pool == nullptr || !seen.add(address)) return;
        std::fprintf(file.get(), "%s,%llu,%llu\n", name_of(pool->kind), static_cast<unsigned long long>((address - pool->base) / 4096),
                     static_cast<unsigned long long>(access));
    };
    Frame frame;
    while (reader.next(frame)) {
        size_t access = 0;
        for (size_t e = 0; e < frame.block_ids.size(); ++e) {
            const StaticBlock& block = reader.blocks()[frame.block_ids[e]];
            for (size_t number = 0; number < frame.access_counts[e]; ++number, ++access) {
                const uint64_t address = frame.addresses[access];
                touch(address, frame.first_access + access);
                if (crosses_page(block, number, address)) touch((address | 4095) + 1, frame.first_access + access);
            }
        }
    }
    if (std::fflush(file.get()) != 0 || std::ferror(file.get())) fail();
    replacement.commit();
}

}  // namespace tessera::trace::cli
