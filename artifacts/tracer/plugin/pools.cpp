// SPDX-License-Identifier: GPL-2.0-only
#include "pools.h"

#include <fstream>
#include <memory>

#include "mosalloc/pool_map.h"
#include "tessera/common/error.h"

namespace tessera::tracer {

std::vector<trace::Pool> read_pools(const std::string& path) {
    const auto refuse = [&](const std::string& found, const std::string& remedy) { throw Error("pool map " + path, found, remedy); };
    const auto map = std::make_unique<mosalloc_pool_map>();
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(map.get()), sizeof *map))
        refuse("the file is missing or short, so the program did not load libmosalloc",
               "record a dynamically linked program, which can use LD_PRELOAD");
    if (map->magic != MOSALLOC_POOL_MAP_MAGIC) refuse("it is not a pool map", "build libmosalloc and the tracer from one checkout");
    if (map->state != 1)
        refuse(map->state == 2 ? std::string("libmosalloc failed: ") + map->error : "libmosalloc was not initialised",
               "follow the message of libmosalloc above");
    std::vector<trace::Pool> pools;
    for (const mosalloc_pool& pool : map->pools)
        pools.push_back(
            {pool.kind == MOSALLOC_POOL_HEAP ? trace::PoolKind::heap : trace::PoolKind::anon, pool.base, pool.size_bytes, pool.used_bytes});
    return pools;
}

}  // namespace tessera::tracer
