// main.cpp - command line of tessera-trace.
#include <charconv>
#include <cstdio>

#include "commands.h"
#include "spans.h"

namespace {

using namespace tessera::trace;
using namespace tessera::trace::cli;

constexpr const char* usage =
    "usage: tessera-trace info TRACE [--json]      contents; every frame is checked\n"
    "       tessera-trace verify TRACE             check every frame and the checksum\n"
    "       tessera-trace dump TRACE [ACCESSES]    blocks and the first accesses (default 100)\n"
    "       tessera-trace cut TRACE OUT --start N --accesses N   a part of a trace as a trace of its own\n"
    "       tessera-trace import-champsim IN OUT [--mmap-pool START:END] [--brk-pool START:END]\n"
    "                      [--max-accesses N] [--program NAME]\n"
    "       tessera-trace export-champsim TRACE OUT\n";

[[noreturn]] void refuse(const std::string& asked, const std::string& found) {
    throw UsageError(asked + ": " + found + "\n  what to do: run tessera-trace --help");
}

uint64_t number(const std::string& option, std::string_view text) {
    const bool hex = text.starts_with("0x");
    if (hex) text.remove_prefix(2);
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
    if (error != std::errc{} || end != text.data() + text.size()) refuse(option, "'" + std::string(text) + "' is not a number");
    return value;
}

Pool pool_option(const std::string& option, PoolKind kind, const std::string& text) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos) refuse(option, "'" + text + "' is not START:END");
    const uint64_t begin = number(option, std::string_view(text).substr(0, colon)), end = number(option, std::string_view(text).substr(colon + 1));
    if (begin >= end) refuse(option, "START is not below END");
    return pool_over(kind, begin, end);
}

int run(const std::vector<std::string>& words) {
    const std::string command = words.empty() ? "" : words[0];
    if (command == "--help" || command == "-h") return std::fputs(usage, stdout), 0;
    const size_t given = words.size();
    if (command == "info" && (given == 2 || (given == 3 && words[2] == "--json"))) return info(words[1], given == 3), 0;
    if (command == "verify" && given == 2) return verify(words[1]), 0;
    if (command == "dump" && (given == 2 || given == 3)) return dump(words[1], given == 3 ? number("dump", words[2]) : 100), 0;
    if (command == "cut" && given == 7 && words[3] == "--start" && words[5] == "--accesses")
        return cut(words[1], words[2], number(words[3], words[4]), number(words[5], words[6])), 0;
    if (command == "export-champsim" && given == 3) return export_champsim(words[1], words[2]), 0;
    if (command == "import-champsim" && given >= 3 && given % 2 == 1) {
        ImportOptions options;
        for (size_t i = 3; i < given; i += 2) {
            if (words[i] == "--mmap-pool") options.anon = pool_option(words[i], PoolKind::anon, words[i + 1]);
            else if (words[i] == "--brk-pool") options.heap = pool_option(words[i], PoolKind::heap, words[i + 1]);
            else if (words[i] == "--program") options.program = words[i + 1];
            else if (words[i] == "--max-accesses") options.max_accesses = number(words[i], words[i + 1]);
            else refuse("import-champsim", "no option '" + words[i] + "'");
        }
        const auto end = [](const Pool& pool) { return pool.base + pool.size_bytes; };
        if (options.anon && options.heap && options.anon->base < end(*options.heap) && options.heap->base < end(*options.anon))
            refuse("import-champsim", "the pools overlap once aligned to 1GB");
        return import_champsim(words[1], words[2], options), 0;
    }
    refuse(command.empty() ? "command" : "command '" + command + "'", "no such command with these arguments");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const UsageError& error) {
        std::fprintf(stderr, "tessera-trace: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tessera-trace: %s\n", error.what());
        return 1;
    }
}
