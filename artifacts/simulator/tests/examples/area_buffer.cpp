// area_buffer.cpp - a look-aside buffer of areas: an entry holds a whole area of the process, of any size (after the VMA look-aside buffer of
// Midgard, Gupta et al., ISCA 2021).
//
// Behind an L1 DTLB miss, the design looks for the area of the address in the buffer, which is replaced in turn. A miss searches the table of
// areas, sorted by address, 32 bytes an entry, and the area enters. An area that changes leaves the buffer. Addresses in no area are walked.
// Not modelled: Midgard's second translation, from an area to frames, and its caches with addresses of areas.
#include "base/error.h"
#include "mmu/base_design.h"
#include "os/physical_map.h"

namespace tessera::sim {
namespace {

class AreaBuffer final : public BaseDesign<> {
public:
    AreaBuffer(uint64_t entries, const DesignContext& context) : BaseDesign(context), buffer_(entries) {}

    void area_changed(const AreaChange& change) override {
        const VirtRange range = change.area.range;
        for (LiveArea& entry : buffer_)
            if (entry.range.begin < range.end && range.begin < entry.range.end) entry = {};
    }
    std::vector<StructureCounts> structures() const override { return {counts_}; }

protected:
    Translated look_up(const Access& access, PageNumber, Port*) override {
        ++counts_.accesses;
        if (space_.live_areas() == nullptr)
            throw Refusal("mmu.design = example-area-buffer", "there is no log of an operating system, which has the areas",
                          "use tessera simulate --os");
        for (const LiveArea& entry : buffer_) {
            if (access.address < entry.range.begin || entry.range.end <= access.address) continue;
            if (entry != *areas().at(access.address)) throw std::logic_error("an area changed, and the buffer was not told");
            ++counts_.hits;
            return Translation::stlb_hit;
        }
        return Translation::miss;
    }
    void walk(const Access& access, PageNumber page, Port& port) override {
        if (areas().at(access.address) == nullptr) return BaseDesign::walk(access, page, port);
        const std::vector<LiveArea>& all = areas().all();
        for (size_t low = 0, high = all.size(); low < high;) {
            const size_t middle = (low + high) / 2;
            port.walker_load(PhysAddr(physical::of_design.begin + middle * 32));
            if (access.address < all[middle].range.begin) high = middle;
            else if (all[middle].range.end <= access.address) low = middle + 1;
            else return;
        }
    }
    void fill(const Access& access, PageNumber, Port*) override {
        const LiveArea* area = areas().at(access.address);
        if (area == nullptr) return;
        buffer_[next_] = *area;
        next_ = (next_ + 1) % buffer_.size();
    }
    bool regular_hit(PageNumber) override { return false; }
    void fill_regular(PageNumber) override {}
    void drop(VirtRange) override {}  // pages come and go, and the area stays

private:
    /// Not in the constructor: without a process, there are none.
    const LiveAreas& areas() const { return *space_.live_areas(); }

    std::vector<LiveArea> buffer_;  ///< an unused entry has an empty range
    size_t next_ = 0;
    StructureCounts counts_{"areas"};
};

const Registered row(designs(), "example-area-buffer", "a look-aside buffer of areas (needs a log)",
                     {{"entries", "entries", 1, 64, 16, "assumed: as Midgard's second level", "Areas in the buffer"}},
                     [](const OwnValues& own, const DesignContext& context) {
                         return std::make_unique<AreaBuffer>(own["entries"], context);
                     });

}  // namespace
}  // namespace tessera::sim
