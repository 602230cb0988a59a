// victim_buffer.cpp - a first-level TLB for all page sizes with a small fully associative buffer of what it evicted
// (after Jouppi's victim caches, ISCA 1990). The array has the geometry of tlb.l1d.4kb, the buffer a key of this file's own.
#include <algorithm>

#include "mmu/walker.h"
#include "os/allocator.h"
#include "tlb/array.h"

namespace tessera::sim {
namespace {

class VictimBuffer final : public Design {
public:
    VictimBuffer(uint64_t victims, const DesignContext& context)
        : space_(context.space),
          first_(context.platform.l1_4kb, context.platform.l1_replacement, context.platform),
          victims_(victims),
          walker_(context),
          allocator_(allocators().make(context.platform.allocator, context.space, context.platform)) {}

    Translated access(const Access& access, Port& port) override {
        const VirtAddr address = access.address;
        const PageNumber page = page_of(address, space_.page_size(address));
        const Translation found = find(page);
        if (found == Translation::miss) walker_.walk(address, page.size, port);
        port.program(allocator_->physical(address, page.size));
        return found;
    }
    Translation fetch(VirtAddr address, Port& port) override {
        const Translation found = fetch_tlb_only(address);
        if (found == Translation::miss) walker_.walk(address, PageSize::small_4kb, port);
        return found;
    }
    Translation access_tlb_only(const Access& access) override { return find(page_of(access.address, space_.page_size(access.address))); }
    Translation fetch_tlb_only(VirtAddr address) override {
        const Translation found = find(page_of(address, PageSize::small_4kb));
        return found == Translation::l1_hit ? Translation::stlb_hit : found;
    }
    void touch(VirtAddr address) override { walker_.touch(address); }

private:
    Translation find(PageNumber page) {
        if (first_.lookup(page)) return Translation::l1_hit;
        const auto victim = std::find(victims_.begin(), victims_.end(), page);
        const bool rescued = victim != victims_.end();
        if (rescued) *victim = PageNumber{~uint64_t{0}};
        PageNumber evicted;
        if (first_.fill(page, &evicted) && !victims_.empty()) {
            victims_[next_] = evicted;
            next_ = (next_ + 1) % victims_.size();
        }
        return rescued ? Translation::stlb_hit : Translation::miss;
    }

    const AddressSpace& space_;
    TlbArray first_;
    std::vector<PageNumber> victims_;  ///< replaced in turn
    size_t next_ = 0;
    Walker walker_;
    std::unique_ptr<Allocator> allocator_;
};

const Registered row(designs(), "example-victim-buffer", "one TLB array for all page sizes and a buffer of its victims",
                     {{"victims", "entries", 0, 64, 4, "assumed: four, as in the smallest of Jouppi's caches", "Size of the buffer"}},
                     [](const OwnValues& own, const DesignContext& context) {
                         return std::make_unique<VictimBuffer>(own["victims"], context);
                     });

}  // namespace
}  // namespace tessera::sim
