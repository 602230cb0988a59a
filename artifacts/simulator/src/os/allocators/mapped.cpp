// mapped.cpp - the frames of the mapping: data caches and memory see what the operating system allocated.
//
// Under the allocator identity, mappings differ by translation alone. Under this one they also differ in cache sets, DRAM rows
// and prefetched lines. It needs a mapping, and its frames may change at an epoch (lines of old frames stay in the caches).
#include "os/allocator.h"

namespace tessera::sim {
namespace {

class Mapped final : public Allocator {
public:
    explicit Mapped(const AddressSpace& space) : pages_(mapping_of(space, "memory.allocator = mapped")) {}
    PhysAddr physical(VirtAddr address, PageSize) override { return pages_.physical(address); }

private:
    const MappedPages& pages_;
};

const Registered row(allocators(), "mapped", "the frames of the mapping (--mappings)",
                     [](const AddressSpace& space, const Platform&) { return std::make_unique<Mapped>(space); });

}  // namespace
}  // namespace tessera::sim
