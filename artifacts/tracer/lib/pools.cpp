#include "tessera/trace/pools.h"

namespace tessera::trace {
namespace {

std::string wrong_pool(const Pool& pool) {
    if (pool.base % 4096 != 0) return "it does not begin at a 4KB page";
    if (pool.base > address_limit || pool.size_bytes > address_limit - pool.base) return "it ends above 2^48, the limit of addresses";
    if (pool.used_bytes > pool.size_bytes) return "more bytes are in use than it has";
    if (pool.distinct_4kb_pages > pages_in(pool.size_bytes)) return "more pages are touched than it has";
    return {};
}

}  // namespace

std::string wrong_pools(const std::vector<Pool>& pools, uint64_t distinct_4kb_pages) {
    uint64_t inside = 0;
    for (const Pool& pool : pools) {
        const std::string name = pool.kind == PoolKind::heap ? "pool brk" : "pool mmap";
        if (const std::string wrong = wrong_pool(pool); !wrong.empty())
            return name + " (base " + std::to_string(pool.base) + ", size " + std::to_string(pool.size_bytes) + ", in use " +
                   std::to_string(pool.used_bytes) + ", touched pages " + std::to_string(pool.distinct_4kb_pages) + "): " + wrong;
        for (const Pool& other : pools) {
            if (&other == &pool) continue;
            if (other.kind == pool.kind) return "two pools have the same kind, " + name;
            if (pool.base < other.base + other.size_bytes && other.base < pool.base + pool.size_bytes)
                return name + " overlaps the other pool";
        }
        inside += pool.distinct_4kb_pages;
    }
    if (inside > distinct_4kb_pages)
        return "pools with " + std::to_string(inside) + " touched pages in a trace that touches " + std::to_string(distinct_4kb_pages);
    return {};
}

}  // namespace tessera::trace
