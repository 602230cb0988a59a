// base_design.h - base of designs: pages of the process, L1 DTLB, walk, frames of data, and code pages.
//
// A data access takes these steps. A design says what happens in three of them: look_up(), fill() and, if it is another one, walk().
//   L1        the platform's L1 DTLB (tlb/levels.h). With L1::none there is none, and look_up() sees every access
//   look_up   the structures of the design; it may probe or load lines through the port. After a miss it may already enter the page, as nobody
//             sees the structures before the access is over: then one search does for both (lookup_or_fill() in tlb/array.h)
//   walk      after a miss: `Walk`, by default that of the platform's page table and walk caches through the data caches (mmu/walker.h)
//   fill      after the walk: what else enters, background loads. Then the page fills L1 with its own size, whatever served it
//   program   the reference of the program's line at the address that the allocator gives
// A design that takes other steps, such as the program's line before its translation, overrides access() and calls translate().
//
// Code pages are conventional: regular entries, which share an array with data, then a walk.
//
// For H and M of many designs in one run (mmu/shared_l1.h), the same look_up() and fill() go through a list of L1 misses, without a port.
// A design that is made as InOnePiece<...> has a loop of its own, in which the compiler can put them into one piece with it.
#pragma once

#include <type_traits>

#include "mmu/shared_l1.h"
#include "mmu/walker.h"
#include "os/allocator.h"
#include "tlb/levels.h"

namespace tessera::sim {

enum class L1 : uint8_t { of_the_platform, none };

/// Walk: touch(), walk() and changed(), as mmu/walker.h; made of `of_walk` and the context.
template <class Walk = Walker, L1 l1 = L1::of_the_platform>
class BaseDesign : public Design, protected BehindSharedL1 {
public:
    template <class... WalkArguments>
    explicit BaseDesign(const DesignContext& context, WalkArguments&&... of_walk)
        : space_(context.space),
          walker_(std::forward<WalkArguments>(of_walk)..., context),
          only_4kb_(context.only_4kb),
          first_(context.platform),
          allocator_(allocators().make(context.platform.allocator, context.space, context.platform)) {}

    Translated access(const Access& access, Port& port) override {
        const PageNumber page = page_at(access.address);
        const Translated found = translate(access, page, &port);
        port.program(physical(access.address, page));
        return found;
    }
    Translation access_tlb_only(const Access& access) override { return translate(access, page_at(access.address), nullptr).found; }
    Translation fetch(VirtAddr address, Port& port) final {
        const Translation found = fetch_tlb_only(address);
        if (found == Translation::miss) walker_.walk(address, PageSize::small_4kb, port);
        return found;
    }
    Translation fetch_tlb_only(VirtAddr address) final {
        const PageNumber page = page_of(address, PageSize::small_4kb);
        if (regular_hit(page)) return Translation::stlb_hit;
        fill_regular(page);
        return Translation::miss;
    }
    void touch(VirtAddr address) final {
        walker_.touch(address);
        allocator_->touch(address);
    }
    void changed(VirtRange range) final {
        if constexpr (has_l1) first_.drop(range);
        changed_behind_l1(range);
    }
    bool only_4kb_pages() const final { return only_4kb_; }
    BehindSharedL1* behind_shared_l1() override { return has_l1 ? this : nullptr; }

protected:
    /// How the design's structures translate the access, with the cycles that its look-ups took. port: null where only H and M are counted
    /// (then the same fills, and no loads); never null with needs_caches().
    virtual Translated look_up(const Access& access, PageNumber page, Port* port) = 0;
    /// After a miss.
    virtual void walk(const Access& access, PageNumber page, Port& port) { walker_.walk(access.address, page.size, port); }
    /// After the walk of the page. port: for background loads; null as in look_up(), with the same fills.
    virtual void fill(const Access&, PageNumber, Port*) {}
    /// The array of regular entries, which code pages of 4KB share with data.
    virtual bool regular_hit(PageNumber page) = 0;
    /// pre: regular_hit() was false.
    virtual void fill_regular(PageNumber page) = 0;
    /// Forgets what the design's own structures hold of the range (L1, page table and walk caches are done).
    virtual void drop(VirtRange range) = 0;

    /// L1, look_up(), walk() and fill().
    Translated translate(const Access& access, PageNumber page, Port* port) {
        if constexpr (has_l1)
            if (first_.lookup(page)) return Translation::l1_hit;
        const Translated found = translate_behind_l1(access, page, port);
        if constexpr (has_l1) first_.fill(page);
        return found;
    }
    /// The page of the design that holds the address.
    PageNumber page_at(VirtAddr address) const { return page_of(address, only_4kb_ ? PageSize::small_4kb : space_.page_size(address)); }
    /// pre: page == page_at(address).
    PhysAddr physical(VirtAddr address, PageNumber page) {
        return allocator_->physical(address, only_4kb_ ? space_.page_size(address) : page.size);
    }

    /// The chunk of the mapping that holds the address; null outside the pools. pre: the process has a mapping.
    const PageChunk* chunk_of(const Access& access) const {
        if (access.chunk != nullptr) return access.chunk;
        const MappedPages& mapping = *space_.mapping();
        const std::vector<PageChunk>& chunks = mapping.chunks();
        const uint32_t number = mapping.row(access.address).chunk;
        return number < chunks.size() ? &chunks[number] : nullptr;
    }

    L1Pages l1_pages() const final { return only_4kb_ ? L1Pages::only_4kb : L1Pages::of_the_space; }
    bool needs_accesses() const override { return true; }
    void missed_l1(const L1Misses& misses, MissCounts& counts) override {
        replay(misses, counts, [this](const Access& access, PageNumber page) { return translate_behind_l1(access, page, nullptr).found; });
    }
    /// behind_l1(access, page): the outcome of look_up() and fill() without a port.
    template <class BehindL1>
    void replay(const L1Misses& misses, MissCounts& counts, BehindL1&& behind_l1) const {
        const MappedPages* const mapping = space_.mapping();
        replay_misses(misses, counts, [&](const L1Miss& miss) {
            if (mapping != nullptr) mapping->expect_row(miss.row);
            return behind_l1(misses.access_of(miss), miss.page()) != Translation::miss;
        });
    }
    void changed_behind_l1(VirtRange range) final {
        walker_.changed(range);
        drop(range);
    }

    const AddressSpace& space_;
    Walk walker_;

private:
    static constexpr bool has_l1 = l1 == L1::of_the_platform;
    struct NoLevel {
        explicit NoLevel(const Platform&) {}
    };

    inline __attribute__((always_inline)) Translated translate_behind_l1(const Access& access, PageNumber page, Port* port) {
        const Translated found = look_up(access, page, port);
        if (found.found == Translation::miss) {
            if (port != nullptr) walk(access, page, *port);
            fill(access, page, port);
        }
        return found;
    }

    bool only_4kb_;
    std::conditional_t<has_l1, FirstLevel, NoLevel> first_;
    std::unique_ptr<Allocator> allocator_;
};

/// A design behind the platform's L1 whose look_up() and fill() are called by name where misses are replayed.
template <class D>
class InOnePiece final : public D {
public:
    using D::D;

private:
    void missed_l1(const L1Misses& misses, MissCounts& counts) override {
        D::replay(misses, counts, [this](const Access& access, PageNumber page) {
            const Translated translated = D::look_up(access, page, nullptr);
            if (translated.found == Translation::miss) D::fill(access, page, nullptr);
            return translated.found;
        });
    }
};

}  // namespace tessera::sim
