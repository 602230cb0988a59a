// champsim_check.h - which bytes can be no record of ChampSim for x86-64.
//
// The format has no mark and no checksum, so only impossible values show that a file is damaged, packed, or of another format.
// Registers may have every number: Pin has more than 255 of them, and ChampSim stores the low byte. Data addresses may be of any
// size below 2^48, because prefetches of small numbers are accesses, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "champsim_record.h"

namespace tessera::trace::cli {

struct WrongField {
    std::string name;     ///< as in ChampSim's struct
    size_t offset;        ///< bytes from the record's begin
    uint64_t value;
    std::string rule;
    bool is_wide = false; ///< an address that a processor has, but not the simulator
};

/// The first impossible field of a record; nothing for a possible one.
std::optional<WrongField> wrong_field(const ChampsimRecord& record);

/// Bytes at the begin of a file that tell CloudSuite's records from ChampSim's.
constexpr size_t cloudsuite_record_bytes = 96, telling_bytes = 16 * cloudsuite_record_bytes;

/// Whether the begin of a file can be CloudSuite's records (ChampSim's cloudsuite_instr): four destination registers, four stores, two
/// bytes for the address space.
bool is_cloudsuite(std::string_view begin);

}  // namespace tessera::trace::cli
