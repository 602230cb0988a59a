// prefetch_slots.h - calls a platform's two prefetchers in order: the L1D slot, then the L2 slot.
#pragma once

#include <memory>
#include <stdexcept>

#include "cache/prefetcher.h"

namespace tessera::sim {

class PrefetchSlots {
public:
    explicit PrefetchSlots(const Platform& p)
        : exists_(p.prefetch_l1d.kind != "none" || p.prefetch_l2.kind != "none"),
          l1d_(prefetchers().make(p.prefetch_l1d.kind, p.prefetch_l1d, p)),
          l2_(prefetchers().make(p.prefetch_l2.kind, p.prefetch_l2, p)) {}

    bool exists() const { return exists_; }

    /// Calls ask(VirtAddr, into_l1d) for each wanted line in order. Throws std::logic_error for a line outside the access's page.
    template <class Ask>
    void observe(const DemandAccess& access, Ask&& ask) {
        if (!exists_) return;
        for (const bool into_l1d : {true, false}) {
            wanted_.clear();
            (into_l1d ? *l1d_ : *l2_).observe(access, wanted_);
            for (VirtAddr target : wanted_) {
                if (target.value >> 12 != access.address.value >> 12)
                    throw std::logic_error("a prefetcher asked for a line outside the 4KB page of the access");
                ask(target, into_l1d);
            }
        }
    }

private:
    bool exists_;
    std::unique_ptr<Prefetcher> l1d_, l2_;
    std::vector<VirtAddr> wanted_;
};

}  // namespace tessera::sim
