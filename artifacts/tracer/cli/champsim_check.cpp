#include "champsim_check.h"

#include <cstddef>
#include <cstring>

#include "tessera/trace/pools.h"

namespace tessera::trace::cli {
namespace {

/// Why an address is none that can be simulated; empty for one that can.
const char* wrong_address(uint64_t address, bool& is_wide) {
    if (address < address_limit) return "";
    const uint64_t sign = address >> 56;  // of 57-bit addresses, bits 56 to 63 are the same
    is_wide = sign == 0 || sign == 0xff;
    if (!is_wide) return "no x86-64 address";
    return sign == 0 ? "an address of more than 48 bits, which the simulator does not model"
                     : "an address of the kernel, which the simulator does not model";
}

struct CloudsuiteRecord {
    uint64_t ip;
    uint8_t is_branch, branch_taken, destination_registers[4], source_registers[4];
    uint64_t destination_memory[4], source_memory[4];
    uint8_t address_space[2];
};
static_assert(sizeof(CloudsuiteRecord) == cloudsuite_record_bytes);

}  // namespace

std::optional<WrongField> wrong_field(const ChampsimRecord& r) {
    const auto at = [&](const void* field) {
        return static_cast<size_t>(static_cast<const char*>(field) - reinterpret_cast<const char*>(&r));
    };
    if (r.ip == 0) return WrongField{"ip", 0, 0, "no instruction is at address 0, so the record is empty"};
    if (r.is_branch > 1) return WrongField{"is_branch", at(&r.is_branch), r.is_branch, "the flag is 0 or 1"};
    if (r.branch_taken > 1) return WrongField{"branch_taken", at(&r.branch_taken), r.branch_taken, "the flag is 0 or 1"};
    if (r.branch_taken > r.is_branch)
        return WrongField{"branch_taken", at(&r.branch_taken), r.branch_taken, "is_branch is 0, and only a branch is taken"};
    bool is_wide = false;
    const auto address = [&](const std::string& name, const uint64_t& value) -> std::optional<WrongField> {
        const std::string rule = wrong_address(value, is_wide);
        if (rule.empty()) return {};
        return WrongField{name, at(&value), value, rule, is_wide};
    };
    if (auto wrong = address("ip", r.ip)) return wrong;
    for (size_t i = 0; i < std::size(r.destination_memory); ++i)
        if (auto wrong = address("destination_memory[" + std::to_string(i) + "]", r.destination_memory[i])) return wrong;
    for (size_t i = 0; i < std::size(r.source_memory); ++i)
        if (auto wrong = address("source_memory[" + std::to_string(i) + "]", r.source_memory[i])) return wrong;
    return {};
}

bool is_cloudsuite(std::string_view begin) {
    if (begin.size() < cloudsuite_record_bytes) return false;
    for (size_t at = 0; at + cloudsuite_record_bytes <= begin.size(); at += cloudsuite_record_bytes) {
        CloudsuiteRecord wide;
        std::memcpy(&wide, begin.data() + at, sizeof wide);
        ChampsimRecord narrow{};  // the fields that both have
        narrow.ip = wide.ip, narrow.is_branch = wide.is_branch, narrow.branch_taken = wide.branch_taken;
        std::memcpy(narrow.source_memory, wide.source_memory, sizeof narrow.source_memory);
        auto wrong = wrong_field(narrow);
        std::memcpy(narrow.source_memory, wide.destination_memory, sizeof narrow.source_memory);
        if (!wrong) wrong = wrong_field(narrow);
        if (wrong && !wrong->is_wide) return false;  // traces of servers have the kernel's addresses
    }
    // Records with few accesses can be taken for wide ones. Of wide ones, every third narrow one begins between two fields.
    size_t narrow = 0, impossible = 0;
    for (size_t at = 0; at + sizeof(ChampsimRecord) <= begin.size(); at += sizeof(ChampsimRecord), ++narrow) {
        ChampsimRecord record;
        std::memcpy(&record, begin.data() + at, sizeof record);
        const auto wrong = wrong_field(record);
        impossible += wrong && !wrong->is_wide;  // narrow ones can have wide addresses, too
    }
    return impossible * 4 >= narrow;
}

}  // namespace tessera::trace::cli
