#include "replacement/lru.h"

namespace tessera::sim {
namespace {

const Registered row(replacements(), "lru", "true least recently used",
                     [](size_t sets, size_t ways, const Platform&) { return std::make_unique<Lru>(sets, ways); });

}  // namespace
}  // namespace tessera::sim
