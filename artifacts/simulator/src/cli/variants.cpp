#include "cli/variants.h"

#include <set>

#include "base/error.h"
#include "base/text.h"

namespace tessera::sim {
namespace {

std::vector<Variant> read_variants(const std::string& list) {
    std::vector<Variant> found;
    std::set<std::string> labels;
    const std::string text = read_text(list, "list of variants");  // outlives the views that split() returns
    size_t number = 0;
    for (const std::string_view line : split(text, '\n')) {
        ++number;
        if (trim(line).empty()) continue;
        const std::string asked = "list of variants " + list + ", line " + std::to_string(number);
        const size_t tab = line.find('\t');
        const std::string label(trim(line.substr(0, tab))), path(tab == std::string_view::npos ? "" : trim(line.substr(tab + 1)));
        if (label.empty() || path.empty())
            throw Refusal(asked, "'" + std::string(line) + "' is no label and path with a tab between them",
                          "write label<TAB>path of a flat platform file");
        if (!labels.insert(label).second)
            throw Refusal(asked, "the label " + label + " occurs twice", "give each variant a label of its own");
        found.push_back({label, path, std::nullopt, ""});
    }
    if (found.empty()) throw Refusal("list of variants " + list, "it is empty", "write label<TAB>path of a flat platform file, one a line");
    for (Variant& variant : found) try {
            variant.platform = read_platform(variant.path);
        } catch (const Refusal& refusal) {
            variant.refusal = refusal.what();
        }
    return found;
}

}  // namespace

std::vector<Variant> variants_of(const Options& options) {
    if (options.given("variants") && options.given("platform"))
        throw Refusal("--platform and --variants", "both are given", "keep one: a variant is a platform with a label");
    if (options.given("variants")) return read_variants(options["variants"]);
    if (!options.given("platform"))
        throw Refusal("run: --platform", "not given", "give --platform FILE, or --variants FILE for several platforms; see --help");
    return {{"", options["platform"], read_platform(options["platform"]), ""}};
}

}  // namespace tessera::sim
