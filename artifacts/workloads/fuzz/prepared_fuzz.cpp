// Prepared files with damaged, truncated and invented headers: the reader either refuses with a remedy, or the
// numbers of the header fit each other and the file, and every array can be loaded. Most inputs get a checksum that
// fits the damaged header, so that the numbers behind it are reached.
#include "fuzz.h"

#include "common/error.h"
#include "common/prepared_file.h"
#include "common/word_sum.h"

using namespace tessera;
using namespace tessera::workloads;

namespace {

const Shape kShape{{"input", "fuzz"}, {"scale", "3"}};
const std::vector<std::string_view> kWords = {"section ",
                                              "argument ",
                                              "sums ",
                                              "bytes ",
                                              "header ",
                                              "tessera-prepared ",
                                              "\n",
                                              " ",
                                              "4096",
                                              "8192",
                                              "18446744073709551615",
                                              "72057594037927936",
                                              "0",
                                              "-1",
                                              "a 4 3 4096\n"};

std::string sealed(std::string text) {
    text.resize(std::min(text.size(), text.find('\0')));
    const size_t header = text.rfind("header ");
    if (header != std::string::npos) text.resize(header);
    std::string filled = text;
    filled.resize(kHeaderBytes, '\0');
    text += "header " + std::to_string(sum_of_words(filled.data(), filled.size(), 0)) + "\n";
    text.resize(kHeaderBytes, '\0');
    return text;
}

std::string whole_file(fuzz::Random& random) {
    PreparedHeader header;
    header.shape = kShape;
    const uint64_t arrays = 1 + random() % 3;
    for (uint64_t i = 0; i < arrays; ++i) header.sections.push_back({std::string(1, static_cast<char>('a' + i)), 4, 1 + random() % 3000});
    header.lay_out();
    std::string bytes(header.file_bytes, '\0');
    std::vector<uint64_t> table;
    for (const Section& section : header.sections) {
        for (uint64_t i = 0; i < section.bytes(); ++i) bytes[section.offset + i] = static_cast<char>(random());
        table.push_back(sum_of_words(&bytes[section.offset], section.bytes(), 0));
    }
    std::memcpy(&bytes[header.table_offset], table.data(), table.size() * sizeof(uint64_t));
    header.table_sum = sum_of_words(table.data(), table.size() * sizeof(uint64_t), 0);
    const std::string text = encode_header(header);
    std::copy(text.begin(), text.end(), bytes.begin());
    return bytes;
}

std::string damaged_file(fuzz::Random& random) {
    std::string bytes = whole_file(random);
    if (random() % 3 == 0) return bytes;
    std::string text = bytes.substr(0, std::min(bytes.size(), bytes.find('\0')));
    if (random() % 4 != 0) fuzz::mutate(text, random, kWords);
    if (random() % 4 != 0) text = sealed(text);
    else text.resize(kHeaderBytes, '\0');
    bytes.replace(0, kHeaderBytes, text.substr(0, kHeaderBytes));
    if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
    if (random() % 4 == 0) bytes[random() % (bytes.size() + 1)] ^= 1;  // may be the end's zero, which stays outside
    return bytes;
}

}  // namespace

int main(int count, char** arguments) {
    fuzz::MemoryFile memory;
    return fuzz::run_reader<Error>(
        "prepared_fuzz", count, arguments, damaged_file, [&](const std::string& input, fuzz::Random&) -> const char* {
            memory.write(input);
            const PreparedHeader header = decode_header("fuzz", std::string_view(input).substr(0, kHeaderBytes), input.size(), "stop");
            if (header.file_bytes != input.size()) return "the header gives the size of the file";
            uint64_t end = kHeaderBytes;
            for (const Section& section : header.sections) {
                if (section.offset < end || section.bytes() > header.table_offset - section.offset)
                    return "arrays lie in the file, in order";
                end = section.offset + section.bytes();
            }
            const PreparedFile file("fuzz", memory.path(), kShape, Verify::yes);
            file.load<uint32_t>("array", "a");
            file.check_all(1);
            return nullptr;
        });
}
