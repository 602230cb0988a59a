// preparation.cpp - see preparation.h.
#include "common/preparation.h"

#include "common/parallel.h"

namespace tessera::workloads {
namespace {

/// At most one mode, and the options that go with it.
void check_combination(const std::string& program, const Arguments& arguments) {
    const auto refuse = [&](const std::string& name, const std::string& found, const std::string& remedy) {
        throw Error(program + ": --" + name, found, remedy);
    };
    const char* const modes[] = {"prepare", "check-prepared", "prepared"};
    std::string given;
    for (const char* mode : modes) {
        if (!arguments.given(mode)) continue;
        if (!given.empty()) refuse(mode, "--" + given + " is given, too", "give only one of --prepare, --check-prepared, --prepared");
        given = mode;
    }
    if (arguments.given("threads") && given != "prepare" && given != "check-prepared")
        refuse("threads", "only a preparation has several threads", "give --prepare or --check-prepared, or leave it out");
    if (arguments.given("verify-prepared") && given != "prepared")
        refuse("verify-prepared", "no file is loaded", "give --prepared, or leave it out");
}

unsigned threads_of(const Arguments& arguments) {
    return arguments.given("threads") ? static_cast<unsigned>(arguments.count("threads")) : available_processors();
}

class Seconds {
public:
    double passed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

std::vector<Parameter> preparation_parameters() {
    return {{"prepare", Kind::path, "", 0, 0, "build the input once, by several threads, write it to this file, and end"},
            {"check-prepared", Kind::path, "", 0, 0, "compare every checksum of this prepared file, and end"},
            {"prepared", Kind::path, "", 0, 0, "load the input from this file, which --prepare made, instead of building it"},
            {"verify-prepared", Kind::flag, "", 0, 0, "compare checksums while the file of --prepared is loaded"},
            {"threads", Kind::count, "", 1, 1024, "threads of a preparation or check; all processors if not given"}};
}

std::optional<Outcome> prepare_or_check(const std::string& program, const Arguments& arguments, const Shape& shape, uint64_t most_bytes,
                                        const std::function<void(Preparation&)>& prepare) {
    check_combination(program, arguments);
    const bool writes = arguments.given("prepare");
    if (!writes && !arguments.given("check-prepared")) return std::nullopt;
    const std::string& path = arguments.text(writes ? "prepare" : "check-prepared");
    const unsigned threads = threads_of(arguments);
    const Seconds seconds;
    Outcome outcome{Result(program), {}};
    // First, so that a name that JSON cannot hold is refused before the work.
    outcome.result.add(writes ? "prepared" : "checked", path);
    PreparedWriter::Totals totals{};
    if (writes) {
        PreparedWriter writer(path, shape, most_bytes);
        Preparation preparation{writer, threads};
        prepare(preparation);
        if (!preparation.complaint.empty())
            throw Error(program + ": --prepare " + path, preparation.complaint,
                        "do not use this machine; check its memory, the compiler and the kernel", kExitFailed);
        totals = writer.finish();
    } else {
        const PreparedFile file(program, path, shape, Verify::yes);
        file.check_all(threads);
        totals = {file.bytes(), file.checksum()};
    }
    outcome.result.add("bytes", totals.bytes)
        .add("threads", uint64_t{threads})
        .add("seconds", seconds.passed())
        .add("checksum", totals.checksum);
    return outcome;
}

std::optional<PreparedFile> open_prepared(const std::string& program, const Arguments& arguments, const Shape& shape) {
    if (!arguments.given("prepared")) return std::nullopt;
    return std::optional<PreparedFile>(std::in_place, program, arguments.text("prepared"), shape,
                                       arguments.flag("verify-prepared") ? Verify::yes : Verify::no);
}

}  // namespace tessera::workloads
