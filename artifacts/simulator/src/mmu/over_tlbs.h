// over_tlbs.h - base of the designs whose TLBs are an organisation of processors (tlb.organisation); they differ in their walk.
#pragma once

#include "mmu/base_design.h"
#include "tlb/organisation.h"

namespace tessera::sim {

template <class Walk>
class OverTlbs : public BaseDesign<Walk, L1::none> {
public:
    template <class... WalkArguments>
    OverTlbs(const DesignContext& context, const Chosen& organisation, WalkArguments&&... of_walk)
        : BaseDesign<Walk, L1::none>(context, std::forward<WalkArguments>(of_walk)...),
          tlbs_(tlb_organisations().make(organisation, context.platform)),
          second_(tlbs_->behind_first_level()) {}

    BehindSharedL1* behind_shared_l1() override { return second_ == nullptr ? nullptr : this; }

protected:
    Translated look_up(const Access&, PageNumber page, Port*) override { return tlbs_->lookup(page); }
    void fill(const Access&, PageNumber page, Port*) override { tlbs_->fill(page); }
    bool regular_hit(PageNumber page) final { return tlbs_->lookup_instruction(page); }
    void fill_regular(PageNumber page) final { tlbs_->fill_instruction(page); }
    void drop(VirtRange range) override { tlbs_->drop(range); }

private:
    bool needs_accesses() const final { return false; }
    void missed_l1(const L1Misses& misses, MissCounts& counts) final {
        replay_misses(misses, counts, [this](const L1Miss& miss) { return second_->lookup_or_fill(miss.page()); });
    }

    std::unique_ptr<TlbOrganisation> tlbs_;
    SecondLevel* second_;  ///< of tlbs_; null: its first level is not the platform's
};

}  // namespace tessera::sim
