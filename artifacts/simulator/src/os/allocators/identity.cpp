// identity.cpp - physical = virtual: data have the same frames in every layout, so layouts differ only in translation.
#include "os/allocator.h"

namespace tessera::sim {

namespace {

class Identity final : public Allocator {
public:
    PhysAddr physical(VirtAddr address, PageSize) override { return PhysAddr(address.value); }
};

const Registered row(allocators(), "identity", "physical = virtual, the same frames in every layout",
                     [](const AddressSpace&, const Platform&) { return std::make_unique<Identity>(); });

}  // namespace
}  // namespace tessera::sim
