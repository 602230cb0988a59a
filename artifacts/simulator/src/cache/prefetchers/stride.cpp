// stride.cpp - a stride prefetcher that learns by program counter (Fu, Patel, Janssens, MICRO 1992; Intel calls its own the IP prefetcher).
//
// A direct-mapped table of `entries` rows; row = pc mod entries, with the whole pc as its tag. A row holds the last address,
// the last stride and a confidence of 0 to 3. An access of another pc takes the row over (stride 0, confidence 0). An
// access of the same pc to the same address changes nothing. Otherwise, with s = address - last:
//   s equals the stride: confidence grows by one, at most to 3;     else: the stride becomes s, confidence 0.
// From confidence 2 on (the third equal stride in a row) the lines of address + s x (distance + k), k = 0 .. degree - 1, are
// asked for, in this order, except those outside the access's 4KB page, its own line, and a line asked for just before.
#include "base/remainder.h"
#include "cache/prefetchers/slot.h"

namespace tessera::sim {
namespace {

class Stride final : public Prefetcher {
public:
    explicit Stride(const PrefetchSlot& slot) : slot_(checked(slot)), row_of_(slot.entries), rows_(slot.entries) {}

    void observe(const DemandAccess& access, std::vector<VirtAddr>& wanted) override {
        const uint64_t address = access.address.value;
        Row& row = rows_[row_of_(access.pc)];
        if (row.pc != access.pc) {
            row = {access.pc, address, 0, 0};
            return;
        }
        const int64_t stride = int64_t(address - row.last);
        if (stride == 0) return;
        row.last = address;
        if (stride != row.stride) {
            row.stride = stride;
            row.confidence = 0;
            return;
        }
        if (row.confidence < 3) ++row.confidence;
        if (row.confidence >= 2) ask(address, stride, wanted);
    }

private:
    void ask(uint64_t address, int64_t stride, std::vector<VirtAddr>& wanted) const {
        uint64_t before = address >> line_shift;
        for (uint64_t k = 0; k < slot_.degree; ++k) {
            const uint64_t target = address + uint64_t(stride) * (slot_.distance + k);
            if (target >> page_shift != address >> page_shift) return;  // strides only lead further away
            if (target >> line_shift == before) continue;
            before = target >> line_shift;
            wanted.push_back(VirtAddr(target));
        }
    }

    struct Row {
        uint64_t pc = ~uint64_t{0}, last = 0;
        int64_t stride = 0;
        unsigned confidence = 0;
    };
    PrefetchSlot slot_;
    Remainder row_of_;
    std::vector<Row> rows_;
};

const Registered row(prefetchers(), "stride", "per program counter: prefetches ahead after three equal strides",
                     [](const PrefetchSlot& slot, const Platform&) { return std::make_unique<Stride>(slot); });

}  // namespace
}  // namespace tessera::sim
