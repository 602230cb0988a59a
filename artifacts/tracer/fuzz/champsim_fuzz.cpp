// champsim_fuzz.cpp - runs the importer on random and mutated ChampSim records: it must take possible ones and write a valid trace
// with exactly their accesses, and refuse all others.
#include "cli/commands.h"
#include "cli/champsim_record.h"
#include "fuzz.h"
#include "tests/streams.h"

using namespace tessera;
using trace::cli::ChampsimRecord;

namespace {

std::string records(fuzz::Random& rng) {
    std::string bytes;
    for (uint64_t n = rng() % 40; n > 0; --n) {
        ChampsimRecord r{};
        const bool wild = rng() % 40 == 0;
        r.ip = wild && rng() % 4 == 0 ? fuzz::border(rng) : 0x400000 + rng() % 64 * 4;
        r.is_branch = static_cast<uint8_t>(rng() % (wild ? 3 : 2));
        r.branch_taken = static_cast<uint8_t>(wild ? rng() % 2 : r.is_branch & rng());
        for (uint8_t& reg : r.destination_registers) reg = static_cast<uint8_t>(rng() % 3 ? rng() % 100 : rng());
        for (uint8_t& reg : r.source_registers) reg = static_cast<uint8_t>(rng() % 3 ? rng() % 100 : rng());
        for (uint64_t& address : r.destination_memory)
            address = rng() % 3 ? 0 : !wild ? 0x7f0000000000 + rng() % 100000 : fuzz::border(rng);
        for (uint64_t& address : r.source_memory) address = rng() % 2 ? 0 : !wild ? rng() >> (16 + rng() % 48) : rng();
        bytes.append(reinterpret_cast<const char*>(&r), sizeof r);
    }
    if (rng() % 3 == 0)
        fuzz::mutate(bytes, rng,
                     {std::string_view("\x28\xb5\x2f\xfd", 4), std::string_view("\xfd"
                                                                                "7zXZ",
                                                                                5)});
    return bytes;
}

std::vector<uint64_t> addresses_of(const std::string& bytes) {
    std::vector<uint64_t> all;
    for (size_t at = 0; at + sizeof(ChampsimRecord) <= bytes.size(); at += sizeof(ChampsimRecord)) {
        ChampsimRecord r;
        std::memcpy(&r, bytes.data() + at, sizeof r);
        for (const uint64_t address : r.source_memory)
            if (address) all.push_back(address);
        for (const uint64_t address : r.destination_memory)
            if (address) all.push_back(address);
    }
    return all;
}

/// The rule of records byte by byte: registers are free, the rest is not.
bool is_possible(const std::string& bytes) {
    if (bytes.empty() || bytes.size() % 64 != 0) return false;
    for (size_t at = 0; at < bytes.size(); at += 64) {
        const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[at + i]); };
        bool has_ip = false;
        for (size_t i = 0; i < 8; ++i) has_ip |= byte(i) != 0;
        if (!has_ip || byte(6) != 0 || byte(7) != 0) return false;
        if (byte(8) > 1 || byte(9) > 1 || (byte(8) == 0 && byte(9) == 1)) return false;
        for (size_t field = 16; field < 64; field += 8)
            if (byte(field + 6) != 0 || byte(field + 7) != 0) return false;
    }
    return true;
}

const char* broken_rule(const std::string& path, const std::string& bytes) {
    trace::Reader reader = trace::Reader::open(path);
    reader.verify();
    reader = trace::Reader::open(path);
    std::vector<uint64_t> found;
    trace::Frame frame;
    while (reader.next(frame)) found.insert(found.end(), frame.addresses.begin(), frame.addresses.end());
    if (found != addresses_of(bytes)) return "the trace's accesses are the records'";
    if (reader.header().block_executions != bytes.size() / sizeof(ChampsimRecord)) return "one execution a record";
    return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
    fuzz::Run run("champsim_fuzz", count, arguments);
    fuzz::MemoryFile in;
    const std::string out = trace::testing::temporary_path("champsim-fuzz");
    while (run.more()) {
        const std::string bytes = records(run.rng);
        in.write(bytes);
        try {
            trace::cli::import_champsim(in.path(), out, {});
            run.accepted(bytes, is_possible(bytes) ? broken_rule(out, bytes) : "only possible records are taken");
        } catch (const trace::TraceError& error) {
            if (is_possible(bytes)) run.broken(bytes, std::string("possible records are taken: ") + error.what());
            run.refused(bytes, error.what());
        } catch (const std::exception& error) {
            run.broken(bytes, std::string("only TraceErrors come out of the importer: ") + error.what());
        }
    }
    std::remove(out.c_str());
    return run.finish();
}
