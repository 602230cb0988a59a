// A trace that goes to ChampSim's format and back keeps addresses, kinds and registers.
#include <gtest/gtest.h>

#include <cstring>

#include "cli/champsim_record.h"
#include "cli/commands.h"
#include "cli/pool_options.h"
#include "cli/spans.h"
#include "streams.h"

namespace tessera::trace::cli::testing {
namespace {

using namespace trace::testing;

/// Blocks whose instructions fit a record: at most 4 sources and 2 destinations.
Stream small_stream() {
    Stream stream;
    StaticBlock block{0x400000, {}, {}};
    block.insns = {{0b11, 0b100, 0b11, InsnKind::load, 1, 4},
                   {1u << 16 | 1u << 4, 1u << 5, 0, InsnKind::alu, 0, 3},
                   {uint64_t{1} << 32 | 1, 0, 1, InsnKind::store, 1, 5},
                   {0b1, 1u << 16, 0b1, InsnKind::load_store, 2, 4},
                   {1u << 16, 0, 0, InsnKind::branch, 0, 2}};
    block.slots = {{0, 0, 8}, {2, 1, 8}, {3, 0, 8}, {3, 1, 8}};
    stream.blocks = {block};
    for (uint64_t i = 0; i < 1000; ++i)
        stream.executions.push_back(
            {0, {0x4000000000 + 64 * i, 0x4000100000 + 8 * i, 0x5000000000 + i * 4096, 0x5000000000 + i * 4096}, {0, 1, 0, 1}});
    return stream;
}

TEST(Champsim, RoundTripKeepsAddressesKindsAndRegisters) {
    const std::string first = temporary_path("first"), records = temporary_path("records"), second = temporary_path("second");
    const Stream stream = small_stream();
    write_stream(first, stream);
    export_champsim(first, records);
    EXPECT_EQ(std::filesystem::file_size(records), 1000 * 5 * 64);
    import_champsim(records, second, {});
    Reader reader = Reader::open(second);
    EXPECT_EQ(reader.header().origin, "champsim");
    EXPECT_EQ(reader.header().instructions, 5000u);
    Frame frame;
    ASSERT_TRUE(reader.next(frame));
    std::vector<uint64_t> addresses;
    std::vector<uint8_t> stores;
    for (const Execution& e : stream.executions) {
        addresses.insert(addresses.end(), e.addresses.begin(), e.addresses.end());
        stores.insert(stores.end(), e.is_store.begin(), e.is_store.end());
    }
    EXPECT_EQ(frame.addresses, addresses);
    EXPECT_EQ(frame.is_store, stores);
    for (size_t i = 0; i < 5; ++i) {
        const StaticInsn& got = reader.blocks()[frame.block_ids[i]].insns[0];
        EXPECT_EQ(got.reads, stream.blocks[0].insns[i].reads) << i;
        EXPECT_EQ(got.writes, stream.blocks[0].insns[i].writes) << i;
        EXPECT_EQ(got.kind, stream.blocks[0].insns[i].kind) << i;
    }
    // From there on both formats say the same: a second trip changes nothing.
    const std::string again = temporary_path("again");
    export_champsim(second, again);
    EXPECT_EQ(read_bytes(again).size(), read_bytes(records).size());
    for (const auto& path : {first, records, second, again}) std::remove(path.c_str());
}

/// A call, its return and a loop's branch, taken twice: the kinds, the lengths and so the outcomes survive both ways.
TEST(Champsim, RoundTripKeepsBranchesAndTheirOutcomes) {
    const std::string first = temporary_path("branches"), records = temporary_path("branches-records"),
                      second = temporary_path("branches-back");
    constexpr uint64_t rsp = 1 << 4, flags = 1 << 16, rbx = 1 << 3;
    const auto branch = [](uint64_t pc, uint64_t reads, uint64_t writes, uint8_t length, BranchKind kind, bool pushes, bool pops) {
        StaticBlock block{pc, {{reads, writes, pushes || pops ? reads & rsp : 0, InsnKind::branch, uint8_t(pushes || pops), length}}, {}};
        block.insns[0].early_writes = writes & rsp;
        block.insns[0].branch = kind;
        if (pushes || pops) block.slots.push_back({0, pushes, 8});
        return block;
    };
    Stream stream;
    stream.blocks = {branch(0x1000, rsp, rsp, 5, BranchKind::call, true, false),
                     branch(0x2000, rsp, rsp, 1, BranchKind::ret, false, true),
                     branch(0x1005, flags, 0, 2, BranchKind::conditional, false, false),
                     branch(0x1007, rbx, 0, 3, BranchKind::indirect_jump, false, false),
                     branch(0x3000, 0, 0, 2, BranchKind::jump, false, false),
                     branch(0x4000, rsp | rbx, rsp, 2, BranchKind::indirect_call, true, false)};
    const std::vector<uint64_t> stack = {0x7ff0};
    for (int round = 0; round < 3; ++round) {
        stream.executions.push_back({0, stack, {1}});
        stream.executions.push_back({1, stack, {0}});
        stream.executions.push_back({2, {}, {}});  // taken to 0x1000 twice, then not
    }
    for (const uint32_t block : {3u, 4u}) stream.executions.push_back({block, {}, {}});
    stream.executions.push_back({5, stack, {1}});
    write_stream(first, stream);
    export_champsim(first, records);
    import_champsim(records, second, {});
    Reader reader = Reader::open(second);
    Frame frame;
    ASSERT_TRUE(reader.next(frame));
    ASSERT_EQ(frame.block_ids.size(), stream.executions.size());
    for (size_t e = 0; e < frame.block_ids.size(); ++e) {
        const StaticInsn &got = reader.blocks()[frame.block_ids[e]].insns[0], &had = stream.blocks[stream.executions[e].block].insns[0];
        EXPECT_EQ(got.branch, had.branch) << e;
        EXPECT_EQ(got.early_writes, had.early_writes) << e;
    }
    EXPECT_EQ(reader.blocks()[frame.block_ids[2]].insns[0].length_bytes, 2u) << "it was not taken once";
    EXPECT_EQ(reader.blocks()[frame.block_ids[0]].insns[0].length_bytes, 0u) << "it was always taken";
    for (const auto& path : {first, records, second}) std::remove(path.c_str());
}

TEST(Champsim, KindsOfBranches) {
    constexpr uint8_t sp = 6, flags = 25, ip = 26, other = 70;
    const auto kind = [](uint8_t a, uint8_t b, uint8_t c, uint64_t load) {
        ChampsimRecord record{};
        record.is_branch = 1;
        record.source_registers[0] = a, record.source_registers[1] = b, record.source_registers[2] = c;
        record.source_memory[0] = load;
        return branch_kind_of(record);
    };
    EXPECT_EQ(kind(ip, flags, 0, 0), BranchKind::conditional);
    EXPECT_EQ(kind(ip, other, 0, 0), BranchKind::conditional) << "jrcxz";
    EXPECT_EQ(kind(ip, 0, 0, 0), BranchKind::jump);
    EXPECT_EQ(kind(0, 0, 0, 0), BranchKind::jump);
    EXPECT_EQ(kind(other, 0, 0, 0), BranchKind::indirect_jump);
    EXPECT_EQ(kind(ip, 0, 0, 0x5000), BranchKind::indirect_jump) << "jmp [rip + x]";
    EXPECT_EQ(kind(sp, ip, 0, 0), BranchKind::call);
    EXPECT_EQ(kind(sp, ip, other, 0), BranchKind::indirect_call);
    EXPECT_EQ(kind(sp, ip, 0, 0x5000), BranchKind::indirect_call) << "call [rip + x]";
    EXPECT_EQ(kind(sp, 0, 0, 0x7ff0), BranchKind::ret);
    EXPECT_EQ(branch_kind_of(ChampsimRecord{}), BranchKind::none);
}

TEST(Champsim, RegistersWithAMeaningKeepItAndNoneIsLost) {
    EXPECT_EQ(bit_of_register(0), 0u);
    EXPECT_EQ(bit_of_register(6), uint64_t{1} << 4);
    EXPECT_EQ(bit_of_register(25), uint64_t{1} << 16);
    EXPECT_EQ(bit_of_register(26), 0u);
    for (int number = 1; number < 256; ++number)
        if (number != 6 && number != 25 && number != 26 && number != exported_bits + 4 && number != exported_bits + 16) {
            EXPECT_NE(bit_of_register(number), 0u) << number;
            EXPECT_EQ(bit_of_register(number) & (1u << 4 | 1u << 16), 0u) << number;
        }
    for (int bit = 0; bit < 33; ++bit) EXPECT_EQ(bit_of_register(register_of_bit(bit)), uint64_t{1} << bit);
}

ChampsimRecord good_record(uint64_t n) {
    ChampsimRecord record{};
    record.ip = 0x401000 + 4 * (n % 8);
    record.source_memory[0] = 0x7f0000000000 + 64 * n;
    return record;
}

std::string bytes_of(const std::vector<ChampsimRecord>& records) {
    return {reinterpret_cast<const char*>(records.data()), records.size() * sizeof(ChampsimRecord)};
}

/// The error of an import, "" for none; a refused import leaves no file.
std::string error_of(const std::string& bytes, ImportOptions options = {}) {
    const std::string path = temporary_path("refused"), out = temporary_path("refused-out");
    write_bytes(path, bytes);
    std::string message;
    try {
        import_champsim(path, out, options);
    } catch (const TraceError& error) {
        message = error.what();
        EXPECT_FALSE(std::filesystem::exists(out));
    }
    std::remove(path.c_str());
    std::remove(out.c_str());
    return message;
}

void expect_words(const std::string& message, const std::vector<std::string>& words) {
    for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
}

TEST(Champsim, ImpossibleFieldsAreRefusedWithRecordByteFieldAndValue) {
    using Change = void (*)(ChampsimRecord&);
    const struct {
        Change change;
        std::vector<std::string> words;
    } rows[] = {
        {[](ChampsimRecord& r) { r = {}; }, {"ip at byte 320", "0x0"}},
        {[](ChampsimRecord& r) { r.ip = 0; }, {"ip at byte 320", "0x0"}},
        {[](ChampsimRecord& r) { r.is_branch = 2; }, {"is_branch at byte 328", "0x2"}},
        {[](ChampsimRecord& r) { r.is_branch = 1, r.branch_taken = 255; }, {"branch_taken at byte 329", "0xff"}},
        {[](ChampsimRecord& r) { r.branch_taken = 1; }, {"branch_taken at byte 329", "0x1", "is_branch is 0"}},
        {[](ChampsimRecord& r) { r.ip = uint64_t{1} << 48; }, {"ip at byte 320", "0x1000000000000", "more than 48 bits"}},
        {[](ChampsimRecord& r) { r.destination_memory[1] = uint64_t{1} << 48; },
         {"destination_memory[1] at byte 344", "0x1000000000000", "2^48"}},
        {[](ChampsimRecord& r) { r.source_memory[0] = (uint64_t{1} << 56) - 8; },
         {"source_memory[0] at byte 352", "0xfffffffffffff8", "more than 48 bits"}},
        {[](ChampsimRecord& r) { r.source_memory[3] = uint64_t{1} << 56; },
         {"source_memory[3] at byte 376", "0x100000000000000", "no x86-64 address"}},
        {[](ChampsimRecord& r) { r.source_memory[3] = 0xfeffffffffffffff; }, {"source_memory[3] at byte 376", "no x86-64 address"}},
        {[](ChampsimRecord& r) { r.source_memory[1] = 0xffffffffff600000; },
         {"source_memory[1] at byte 360", "0xffffffffff600000", "kernel"}},
        {[](ChampsimRecord& r) { r.source_memory[1] = 0xff00000000000000; }, {"source_memory[1] at byte 360", "kernel"}},
    };
    for (const auto& row : rows) {
        std::vector<ChampsimRecord> records;
        for (uint64_t n = 0; n < 9; ++n) records.push_back(good_record(n));
        row.change(records[5]);
        const std::string message = error_of(bytes_of(records));
        expect_words(message, {"record 5 at byte 320", "what to do: ", "--max-accesses 5"});
        expect_words(message, row.words);
        ImportOptions before;
        before.max_accesses = 5;
        EXPECT_EQ(error_of(bytes_of(records), before), "") << "the part before it is whole";
    }
}

/// What Pin writes for programs: every register, prefetches of small and of unusual numbers, a branch to itself.
TEST(Champsim, PossibleRecordsAreTaken) {
    std::vector<ChampsimRecord> records;
    for (unsigned n = 0; n < 256; ++n) {
        ChampsimRecord record{};
        record.ip = n == 0 ? 1 : n == 1 ? (uint64_t{1} << 48) - 1 : n == 2 ? 0x7ffffffff000 : 0x400000 + n;
        record.is_branch = n % 2, record.branch_taken = n % 4 == 1;
        for (uint8_t& number : record.destination_registers) number = static_cast<uint8_t>(n);
        for (uint8_t& number : record.source_registers) number = static_cast<uint8_t>(255 - n);
        record.source_memory[n % 4] = n % 3 == 0 ? 8 : (uint64_t{1} << 48) - 1 - n;
        record.destination_memory[n % 2] = 0x7f0000000000 + n;
        records.push_back(record);
    }
    EXPECT_EQ(error_of(bytes_of(records)), "");
}

TEST(Champsim, RecordsThatLoseBytesInTheMiddleAreRefused) {
    std::vector<ChampsimRecord> records;
    for (uint64_t n = 0; n < 200; ++n) records.push_back(good_record(n));
    const std::string whole = bytes_of(records);
    for (size_t lost = 1; lost < 64; ++lost) EXPECT_NE(error_of(whole.substr(0, 64 * 100) + whole.substr(64 * 100 + lost)), "") << lost;
    EXPECT_NE(error_of(whole.substr(0, 64 * 100) + std::string(4096, '\0') + whole.substr(64 * 100)), "") << "a hole of zeros";
}

TEST(Champsim, CutRecordsAreRefusedWithTheirPosition) {
    const std::string whole = bytes_of({good_record(0), good_record(1), good_record(2), good_record(3)});
    expect_words(error_of(whole.substr(0, 64 * 3 + 10)), {"record 3 at byte 192", "10 of its 64 bytes"});
}

/// 96 bytes: two more destination registers, two more stores, the address space.
TEST(Champsim, CloudsuitesRecordsAreNamed) {
    for (const bool with_stores : {false, true}) {
        std::string bytes;
        for (uint64_t n = 0; n < 40; ++n) {
            std::string record(96, '\0');
            const uint64_t ip = 0x401000 + 4 * n, load = 0x7f0000000000 + 64 * n;
            std::memcpy(record.data(), &ip, 8);
            record[10] = 70, record[14] = 71;
            for (int i = 0; i < (with_stores ? 4 : 0); ++i) std::memcpy(record.data() + 24 + 8 * i, &load, 8);
            for (int i = 0; i < (with_stores ? 4 : 1); ++i) std::memcpy(record.data() + 56 + 8 * i, &load, 8);
            record[88] = record[89] = 1;
            bytes += record;
        }
        expect_words(error_of(bytes), {"CloudSuite", "96-byte", "64-byte", "record "});
        expect_words(error_of(bytes.substr(0, 96 * 2)), {"CloudSuite"});
    }
    const std::string message = error_of(bytes_of({good_record(0), {}, good_record(2), good_record(3), good_record(4)}));
    EXPECT_EQ(message.find("CloudSuite"), std::string::npos) << message;
    for (const size_t count : {2, 200}) {  // ChampSim's records of a processor with 57-bit addresses
        std::vector<ChampsimRecord> wide(count, good_record(0));
        for (ChampsimRecord& record : wide) record.source_memory[0] = uint64_t{1} << 55, record.destination_memory[0] = uint64_t{1} << 53;
        const std::string said = error_of(bytes_of(wide));
        EXPECT_EQ(said.find("CloudSuite"), std::string::npos) << said;
        expect_words(said, {"more than 48 bits"});
    }
}

TEST(Champsim, TheShareOutsideThePoolsIsReportedAndKept) {
    const std::string path = temporary_path("far"), out = temporary_path("far-out"), part = temporary_path("far-part");
    std::vector<ChampsimRecord> records;
    for (uint64_t n = 0; n < 100; ++n) {
        records.push_back(good_record(n));
        records.back().source_memory[0] = (n % 4 << 40) + (uint64_t{16} << 40) + 4096 * (n / 4);  // four arrays of 25 pages
    }
    write_bytes(path, bytes_of(records));
    expect_words(import_champsim(path, out, {}),
                 {"75 (75.0%) of the accesses", "75 (75.0%) of the 4KB pages", "0x110000000000:0x110000019000, 25 pages: outside",
                  "at least 1% of the pages: --brk-pool 0x100000000000:0x100000019000 --mmap-pool 0x110000000000:0x130000019000\n"});
    EXPECT_EQ(Reader::open(out).header().outside_accesses, 75u);
    cut(out, part, 0, 10);
    EXPECT_EQ(Reader::open(part).header().outside_accesses, 7u);
    ImportOptions all;
    all.heap = pool_option("--brk-pool", PoolKind::heap, "0x100000000000:0x100000019000");
    all.anon = pool_option("--mmap-pool", PoolKind::anon, "0x110000000000:0x130000019000");
    EXPECT_EQ(import_champsim(path, out, all).find("to cover"), std::string::npos);
    expect_words(import_champsim(path, out, all), {"0 (0.0%) of the accesses", "0 (0.0%) of the 4KB pages", "sizes of accesses: unknown"});
    EXPECT_EQ(Reader::open(out).header().outside_accesses, 0u);
    for (const auto& file : {path, out, part}) std::remove(file.c_str());
}

TEST(Champsim, AnEmptyTraceIsNone) {
    const std::string path = temporary_path("empty"), out = temporary_path("empty-out");
    write_bytes(path, "");
    EXPECT_THROW(import_champsim(path, out, {}), TraceError);
    EXPECT_FALSE(std::filesystem::exists(out));
    std::remove(path.c_str());
}

TEST(Champsim, ManyAccessesBecomeSeveralRecords) {
    const std::string first = temporary_path("wide"), records = temporary_path("wide-records");
    Stream stream;
    stream.blocks = {make_block(0x1000, 1)};
    stream.executions = {{0, std::vector<uint64_t>(9, 4096), std::vector<uint8_t>(9, 0)}};
    write_stream(first, stream);
    export_champsim(first, records);
    EXPECT_GE(std::filesystem::file_size(records), 64u * 4);
    std::remove(first.c_str());
    std::remove(records.c_str());
}

TEST(Spans, GapsAboveOneGigabyteSplit) {
    const uint64_t page = 1 << 18;  // pages of 1GB
    EXPECT_EQ(spans_of_pages({0, 1, page + 1}).size(), 1u);
    EXPECT_EQ(spans_of_pages({0, 1, page + 3}).size(), 2u);
    const auto pools = default_pools(spans_of_pages({5, 10 * page, 10 * page + 1, 90 * page}));
    ASSERT_EQ(pools.size(), 2u);
    EXPECT_EQ(pools[0].kind, PoolKind::heap);
    EXPECT_EQ(pools[0].base, 0u);
    EXPECT_EQ(pools[1].kind, PoolKind::anon);
    EXPECT_EQ(pools[1].base, 10 * one_gigabyte);
    EXPECT_EQ(pools[1].used_bytes, 2 * 4096u);
    EXPECT_TRUE(default_pools({}).empty());
}

TEST(Spans, AddressesThatNoProgramHasMakeNoPool) {
    const uint64_t limit = uint64_t{1} << (48 - 12), top = (uint64_t{1} << (64 - 12)) - 1;
    EXPECT_TRUE(default_pools(spans_of_pages({limit, top - 1, top})).empty());
    const auto pools = default_pools(spans_of_pages({limit - 1, limit, top}));
    ASSERT_EQ(pools.size(), 1u);
    EXPECT_EQ(pools[0].base + pools[0].size_bytes, uint64_t{1} << 48);
}

TEST(PoolOption, TakesWhatAPoolCanBe) {
    struct Row {
        const char* text;
        uint64_t base, size_bytes, used_bytes;
    };
    for (const Row& row : {Row{"0:1", 0, one_gigabyte, 1}, Row{"0x40000000:1073741825", one_gigabyte, one_gigabyte, 1},
                           Row{"0xffffc0000000:0x1000000000000", 0xffffc0000000, one_gigabyte, one_gigabyte}}) {
        const Pool pool = pool_option("--brk-pool", PoolKind::heap, row.text);
        EXPECT_EQ(pool.base, row.base) << row.text;
        EXPECT_EQ(pool.size_bytes, row.size_bytes) << row.text;
        EXPECT_EQ(pool.used_bytes, row.used_bytes) << row.text;
    }
}

TEST(PoolOption, RefusesEmptyOnesAndAddressesAboveTheLimitNamingOptionAndValue) {
    for (const std::string text : {"1:1", "2:1", "0:0xffffffffffffffff", "0:0x1000000000001", "0xffffffffc0000000:0xffffffffffffffff", "5",
                                   "a:b", ":", "0:", "0x:9", "0:18446744073709551616", "-1:5", "0:1 "}) {
        try {
            pool_option("--brk-pool", PoolKind::heap, text);
            ADD_FAILURE() << text;
        } catch (const UsageError& error) {
            const std::string words = error.what();
            EXPECT_TRUE(words.starts_with("--brk-pool")) << words;
            EXPECT_NE(words.find(text.substr(0, text.find(':'))), std::string::npos) << words;
            EXPECT_NE(words.find("what to do: "), std::string::npos) << words;
        }
    }
}

TEST(PoolOption, RefusesPoolsThatShareAGigabyte) {
    const auto apart = [](const char* anon, const char* heap) {
        ImportOptions options;
        options.anon = pool_option("--mmap-pool", PoolKind::anon, anon);
        options.heap = pool_option("--brk-pool", PoolKind::heap, heap);
        check_apart(options);
    };
    EXPECT_NO_THROW(apart("0x40000000:0x80000000", "0:0x40000000"));
    EXPECT_NO_THROW(check_apart({}));
    EXPECT_THROW(apart("0x40000000:0x80000000", "0:0x40000001"), UsageError);
    EXPECT_THROW(apart("0x40000000:0x80000000", "0x7fffffff:0x80000000"), UsageError);
    EXPECT_THROW(apart("0:0x1000000000000", "0x40000000:0x40000001"), UsageError);
}

}  // namespace
}  // namespace tessera::trace::cli::testing
