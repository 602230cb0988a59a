// touches.cpp - writes the order in which a trace first touches the 4KB pages of its pools, as CSV.
//
// A row is the first access to a page: the pool, the page's number from the start of the pool, and the number of the access in the
// whole trace. Pages outside the pools (stack, program, libraries) are left out. A pool has one bit for each page.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "tessera/trace/replacement.h"

namespace tessera::trace::cli {

namespace {

struct Pages {
    const char* name;
    uint64_t base, size_bytes;
    std::vector<bool> seen;

    explicit Pages(const Pool& pool)
        : name(pool.kind == PoolKind::heap ? "brk" : "mmap"), base(pool.base), size_bytes(pool.size_bytes), seen((pool.size_bytes + 4095) >> 12) {}
};

}  // namespace

void touches(const std::string& in, const std::string& out) {
    Reader reader = Reader::open(in);
    std::vector<Pages> pools(reader.header().pools.begin(), reader.header().pools.end());
    Replacement replacement(out);
    const auto fail = [&] {
        throw TraceError("write first touches " + out + ": " + std::strerror(errno) + "\n  what to do: free disk space, or write elsewhere");
    };
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(replacement.path().c_str(), "wb"), std::fclose);
    if (!file) fail();
    std::fputs("pool,page,access\n", file.get());
    Frame frame;
    while (reader.next(frame)) {
        for (size_t i = 0; i < frame.addresses.size(); ++i) {
            for (Pages& pool : pools) {
                const uint64_t offset = frame.addresses[i] - pool.base;
                if (offset >= pool.size_bytes) continue;
                const uint64_t page = offset >> 12;
                if (!pool.seen[page]) {
                    pool.seen[page] = true;
                    std::fprintf(file.get(), "%s,%llu,%llu\n", pool.name, static_cast<unsigned long long>(page),
                                 static_cast<unsigned long long>(frame.first_access + i));
                }
                break;
            }
        }
    }
    if (std::fflush(file.get()) != 0 || std::ferror(file.get())) fail();
    replacement.commit();
}

}  // namespace tessera::trace::cli
