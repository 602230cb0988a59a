// header_text.cpp - the header as lines `key=value` in a fixed order.
//
// `pool=<brk|mmap> <base> <size_bytes> <used_bytes> <distinct_4kb_pages>`, once per pool. In values, `%`
// and line breaks are written %25 and %0A. The last line is `sha256=<of the lines before it>`, for readers
// in languages without this library's digest.
#include <charconv>
#include <sstream>

#include "container.h"
#include "sha256.h"

namespace tessera::trace {
namespace {

std::string escape(const std::string& value) {
    std::string out;
    for (const char c : value) {
        if (c == '%') out += "%25";
        else if (c == '\n') out += "%0A";
        else out += c;
    }
    return out;
}

std::string unescape(const std::string& value) {
    std::string out;
    for (size_t i = 0; i < value.size(); ++i) {
        if (value.compare(i, 3, "%25") == 0) out += '%', i += 2;
        else if (value.compare(i, 3, "%0A") == 0) out += '\n', i += 2;
        else out += value[i];
    }
    return out;
}

bool to_number(const std::string& text, uint64_t& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc{} && end == text.data() + text.size();
}

bool to_pool(const std::string& text, Pool& pool) {
    std::istringstream words(text);
    std::string kind;
    words >> kind >> pool.base >> pool.size_bytes >> pool.used_bytes >> pool.distinct_4kb_pages;
    pool.kind = kind == "brk" ? PoolKind::heap : PoolKind::anon;
    return !words.fail() && (kind == "brk" || kind == "mmap");
}

}  // namespace

std::string header_to_text(const Header& h) {
    std::ostringstream out;
    out << "program=" << escape(h.program) << "\norigin=" << escape(h.origin) << "\naccesses=" << h.accesses
        << "\nstores=" << h.stores << "\ninstructions=" << h.instructions
        << "\nblock_executions=" << h.block_executions << "\ndistinct_4kb_pages=" << h.distinct_4kb_pages
        << "\nthreads=" << h.threads << "\ncomplete_roi=" << (h.complete_roi ? 1 : 0)
        << "\nchecksum=" << h.checksum << '\n';
    for (const Pool& pool : h.pools)
        out << "pool=" << (pool.kind == PoolKind::heap ? "brk" : "mmap") << ' ' << pool.base << ' '
            << pool.size_bytes << ' ' << pool.used_bytes << ' ' << pool.distinct_4kb_pages << '\n';
    return out.str() + "sha256=" + sha256_hex(out.str()) + '\n';
}

std::string header_from_text(const std::string& text, Header& h) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const size_t equals = line.find('=');
        if (equals == std::string::npos) return "header line '" + line + "' has no '='";
        const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
        uint64_t number = 0;
        bool ok = true;
        if (key == "program") h.program = unescape(value);
        else if (key == "origin") h.origin = unescape(value);
        else if (key == "checksum") h.checksum = value;
        else if (key == "pool") ok = to_pool(value, h.pools.emplace_back());
        else if (key == "sha256") ok = value == sha256_hex(text.substr(0, text.rfind("sha256=")));
        else if (!to_number(value, number)) ok = false;
        else if (key == "accesses") h.accesses = number;
        else if (key == "stores") h.stores = number;
        else if (key == "instructions") h.instructions = number;
        else if (key == "block_executions") h.block_executions = number;
        else if (key == "distinct_4kb_pages") h.distinct_4kb_pages = number;
        else if (key == "threads") h.threads = static_cast<uint32_t>(number);
        else if (key == "complete_roi") h.complete_roi = number != 0;
        else return "unknown header key '" + key + "'";
        if (!ok) return "header line '" + line + "' is malformed";
    }
    return {};
}

}  // namespace tessera::trace
