#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/publish.h"
#include "coding.h"
#include "tessera/os/log.h"

namespace tessera::os {
namespace {

constexpr size_t buffer_bytes = 1 << 20;

std::string header_text(const Header &header) {
    std::string text = "scenario = " + header.scenario + "\ntrace = " + header.trace_checksum + "\n";
    for (const Pool &pool : header.pools)
        text += "pool = " + std::to_string(pool.kind) + " " + std::to_string(pool.base) + " " + std::to_string(pool.size_bytes) + "\n";
    text += "blocks = " + std::to_string(header.blocks) + "\naccesses = " + std::to_string(header.accesses) +
            "\ninstructions = " + std::to_string(header.instructions) + "\n" + format_line;
    for (const auto &[key, value] : header.notes) text += "note." + key + " = " + value + "\n";
    for (size_t at = 0, end; at < header.scenario_text.size(); at = end + 1) {
        end = header.scenario_text.find('\n', at);
        if (end == std::string::npos) end = header.scenario_text.size();
        text += "key." + header.scenario_text.substr(at, end - at) + "\n";
    }
    return text;
}

}  // namespace

const char *name_of(Kind kind) {
    static const char *const names[kinds] = {"map",  "unmap", "split",     "collapse",  "upgrade",    "call",
                                             "area", "count", "area-live", "area-gone", "call-begin", "source"};
    return static_cast<uint8_t>(kind) < kinds ? names[static_cast<uint8_t>(kind)] : "?";
}

const char *name_of(Cause cause) {
    static const char *const names[causes] = {"moved", "page",      "zero", "copy",   "reuse",    "swap",      "swap-cache",
                                              "file",  "file-read", "pool", "around", "migrated", "copy-read", "policy"};
    return static_cast<uint8_t>(cause) < causes ? names[static_cast<uint8_t>(cause)] : "?";
}

const char *name_of(Loss loss) {
    static const char *const names[losses] = {"call", "reclaimed"};
    return static_cast<uint8_t>(loss) < losses ? names[static_cast<uint8_t>(loss)] : "?";
}

const char *name_of(Source source) {
    static const char *const names[sources] = {"mapped", "cache"};
    return static_cast<uint8_t>(source) < sources ? names[static_cast<uint8_t>(source)] : "?";
}

std::string digest_of(const std::string &text) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(checksum_of(text.data(), text.size())));
    return digits;
}

Writer::Writer(const std::string &path, const Header &header) : path_(path), checksum_(checksum_start) {
    const std::filesystem::path target(path);
    temporary_ = (target.parent_path() / ("." + target.filename().string() + "." + std::to_string(getpid()) + ".tmp")).string();
    if (std::filesystem::is_directory(target)) throw LogError("log " + path, "this is a folder", "name a file");
    file_ = std::fopen(temporary_.c_str(), "wb");
    if (!file_) throw LogError("log " + path, std::strerror(errno), "free space, or name a file in a folder that you can write to");
    const std::string text = header_text(header);
    buffer_.append(magic, magic_bytes);
    put_word(buffer_, text.size());
    buffer_ += text;
    flush();
    bytes_ = 0;
}

Writer::~Writer() {
    if (!file_) return;
    std::fclose(file_);
    std::remove(temporary_.c_str());
}

void Writer::add(const Record &r) {
    const size_t before = buffer_.size();
    const bool same = r.block == last_.block && r.access == last_.access, pages = r.pages != (r.large ? 512u : 1u);
    const bool is_new = static_cast<uint8_t>(r.kind) >= first_new_kind, wide = is_new || r.kind == Kind::count || r.pool > 1 || r.gigantic;
    const unsigned kind = is_new ? wide_kind : static_cast<unsigned>(r.kind);
    buffer_.push_back(static_cast<char>((wide ? wide_kind : kind) | r.tables.size() << 3 | unsigned{same} << 6 | unsigned{pages} << 7));
    if (wide) buffer_.push_back(static_cast<char>(kind | unsigned{r.gigantic} << 3 | unsigned{r.pool} << 4));
    const unsigned sign = wide ? is_new : r.pool;
    const unsigned more = is_new ? static_cast<unsigned>(r.kind) - first_new_kind : unsigned{r.fallback} | unsigned{r.write} << 1;
    buffer_.push_back(static_cast<char>(r.cause | sign << 4 | unsigned{r.large} << 5 | more << 6));
    if (!same) {
        put_number(buffer_, r.block - last_.block);
        put_number(buffer_, r.access - last_.access);
    }
    put_number(buffer_, folded(r.page - (last_.page + last_.pages)));
    put_number(buffer_, folded(r.frame - (last_.frame + last_.pages)));
    if (pages) put_number(buffer_, r.pages);
    uint64_t table = 0;
    for (const uint32_t frame : r.tables) {
        put_number(buffer_, folded(frame - table));
        table = frame;
    }
    last_.block = r.block, last_.access = r.access, last_.page = r.page, last_.pages = r.pages, last_.frame = r.frame;
    ++records_;
    bytes_ += buffer_.size() - before;
    if (buffer_.size() >= buffer_bytes) flush();
}

void Writer::flush() {
    checksum_ = checksum_of(buffer_.data(), buffer_.size(), checksum_);
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size())
        throw LogError("log " + path_, std::strerror(errno), "free space on this disk, and run the command again");
    buffer_.clear();
}

void Writer::finish() {
    put_word(buffer_, records_);
    put_word(buffer_, bytes_);
    flush();
    put_word(buffer_, checksum_);
    flush();
    if (!publish_file(std::exchange(file_, nullptr), temporary_.c_str(), path_.c_str()))
        throw LogError("log " + path_, std::strerror(errno), "free space on this disk, and run the command again");
}

}  // namespace tessera::os
