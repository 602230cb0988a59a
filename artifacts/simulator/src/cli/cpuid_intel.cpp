// cpuid_intel.cpp - TLBs of Intel processors: descriptor bytes of leaf 2, or the arrays of leaf 18h that byte FEh refers to.
#include <vector>

#include "cli/cpuid_report.h"

namespace tessera::sim {
namespace {

void shared_stlb(CpuidValues& v, uint64_t entries, uint64_t ways, uint64_t holds_2mb) {
    v.put("tlb.stlb", entries, ways);
    v.put("tlb.stlb.holds_2mb", holds_2mb);
    v.put("tlb.stlb.holds_1gb", 0);
    v.put_none("tlb.stlb_2mb");
}

/// Descriptors that the modelled generations report.
void descriptor(CpuidValues& v, uint8_t byte) {
    switch (byte) {
        case 0x03: v.put("tlb.l1d.4kb", 64, 4); break;
        case 0x5a: v.put("tlb.l1d.2mb", 32, 4); break;
        case 0x63:
            v.put("tlb.l1d.1gb", 4, 4);
            v.put("tlb.l1d.2mb", 32, 4);
            break;
        case 0xb0: v.put("tlb.l1i", 128, 4); break;
        case 0xb5: v.put("tlb.l1i", 64, 8); break;
        case 0xb6: v.put("tlb.l1i", 128, 8); break;
        case 0xca:
            shared_stlb(v, 512, 4, 0);
            v.put_none("tlb.stlb_1gb");
            break;
        case 0xc1:
            shared_stlb(v, 1024, 8, 1);
            v.put_none("tlb.stlb_1gb");
            break;
        case 0xc3:
            shared_stlb(v, 1536, 6, 1);
            v.put("tlb.stlb_1gb", 16, 4);
            break;
        default: break;
    }
}

/// One TLB of leaf 18h.
struct Array {
    enum Type { data = 1, instruction = 2, unified = 3, load = 4, store = 5 };
    uint32_t type, level;
    bool holds_4kb, holds_2mb, holds_1gb;
    uint64_t entries, ways;
};

std::vector<Array> arrays_of(const CpuidReader& read) {
    std::vector<Array> arrays;
    const auto first = read(0x18, 0);
    if (!first) return arrays;
    for (uint32_t sub = 0, last = first->a < 64 ? first->a : 64; sub <= last; ++sub) {
        const auto r = read(0x18, sub);
        if (!r || (r->d & 31) == 0) continue;
        const uint64_t ways = r->b >> 16;
        const Array array{r->d & 31, r->d >> 5 & 7, bool(r->b & 1), bool(r->b & 6), bool(r->b & 8), ways * r->c, ways};
        if (array.entries != 0) arrays.push_back(array);
    }
    return arrays;
}

void first_level(const Array& array, CpuidValues& v) {
    if (array.type == Array::instruction) {
        if (array.holds_4kb) v.put("tlb.l1i", array.entries, array.ways);
        return;
    }
    if (array.type == Array::store) return;  // loads are what walks wait for; one L1 array is modelled
    if (array.holds_4kb) v.put("tlb.l1d.4kb", array.entries, array.ways);
    const struct {
        const char* prefix;
        bool holds;
    } sizes[] = {{"tlb.l1d.2mb", array.holds_2mb}, {"tlb.l1d.1gb", array.holds_1gb}};
    for (const auto& [prefix, holds] : sizes) {
        if (!holds) continue;
        if (array.holds_4kb) v.put_none(prefix);
        else v.put(prefix, array.entries, array.ways);
        v.put(std::string(prefix) + ".in_4kb", array.holds_4kb);
    }
}

/// Arrays that share the sets of 4KB pages count together for them. A large size that lives in some of these arrays only
/// gets an array of that many entries of its own (Ice Lake and later: 1024 for 4KB and 2MB, 1024 for 4KB and 1GB).
void second_level(const std::vector<Array>& arrays, CpuidValues& v) {
    uint64_t entries = 0, ways = 0, of_2mb[2] = {}, of_1gb[2] = {};
    for (const Array& array : arrays) {
        if (array.level != 2 || array.type == Array::instruction || array.type == Array::store) continue;
        if (array.holds_4kb) entries += array.entries, ways += array.ways;
        if (array.holds_2mb) of_2mb[0] += array.entries, of_2mb[1] += array.ways;
        if (array.holds_1gb) of_1gb[0] += array.entries, of_1gb[1] += array.ways;
    }
    if (entries == 0) return;
    v.put("tlb.stlb", entries, ways);
    const struct {
        const char* size;
        const uint64_t* of;
    } sizes[] = {{"2mb", of_2mb}, {"1gb", of_1gb}};
    for (const auto& [size, of] : sizes) {
        const bool shares = of[0] == entries;
        v.put(std::string("tlb.stlb.holds_") + size, shares);
        if (shares || of[0] == 0) v.put_none(std::string("tlb.stlb_") + size);
        else v.put(std::string("tlb.stlb_") + size, of[0], of[1]);
    }
}

}  // namespace

void decode_intel_tlbs(const CpuidReader& read, CpuidValues& values) {
    bool refers = false;
    if (const auto r = read(2, 0)) {
        const uint32_t registers[] = {r->a & ~0xffu, r->b, r->c, r->d};  // the lowest byte is a count
        for (const uint32_t value : registers) {
            if (value & 0x80000000u) continue;  // this register holds no descriptors
            for (int byte = 0; byte < 4; ++byte) {
                const auto code = uint8_t(value >> (8 * byte));
                refers |= code == 0xfe;
                descriptor(values, code);
            }
        }
    }
    if (!refers && !values.all().empty()) return;
    const auto arrays = arrays_of(read);
    for (const Array& array : arrays)
        if (array.level == 1) first_level(array, values);
    second_level(arrays, values);
}

}  // namespace tessera::sim
