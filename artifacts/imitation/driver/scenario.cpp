#include "driver/scenario.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "driver/refusal.h"
#include "tessera/common/numbers.h"
#include "tessera/common/text.h"

namespace tessera::os {
namespace {

constexpr const char *help = "run it by way of `tessera lab os run`, which writes all keys; docs/reference/scenarios.md lists them";

class Keys {
public:
    Keys(const std::string &text, std::string path) : path_(std::move(path)) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            const size_t equals = line.find(" = ");
            if (equals == std::string::npos) refuse(line, "a line is `key = value` [os/scenario-line]");
            if (!values_.emplace(line.substr(0, equals), line.substr(equals + 3)).second)
                refuse(line.substr(0, equals), "the key is given twice [os/scenario-key]");
        }
    }
    std::string word(const std::string &key) {
        const auto found = values_.find(key);
        if (found == values_.end()) refuse(key, "the key is missing [os/scenario-key]");
        std::string value = found->second;
        values_.erase(found);
        return value;
    }
    uint64_t number(const std::string &key, uint64_t least, uint64_t most) {
        const std::string text = word(key);
        const auto value = whole_number(text);
        if (!value || *value < least || *value > most)
            refuse(key + " = " + text,
                   "a whole number from " + std::to_string(least) + " to " + std::to_string(most) + " [os/scenario-value]");
        return *value;
    }
    /// The place of the word among `words`.
    size_t one_of(const std::string &key, const std::vector<std::string> &words) {
        const std::string text = word(key);
        for (size_t i = 0; i < words.size(); ++i)
            if (words[i] == text) return i;
        refuse(key + " = " + text, "one of " + join(words) + " [os/scenario-value]");
    }
    void end() {
        if (!values_.empty()) refuse(values_.begin()->first, "no such key [os/scenario-key]");
    }
    [[noreturn]] void refuse(const std::string &asked, const std::string &found) const {
        throw Refusal("scenario " + path_ + ": " + asked, found, help);
    }

private:
    std::string path_;
    std::map<std::string, std::string> values_;
};

void read_thp(Keys &keys, Scenario &scenario) {
    ::thp &thp = scenario.thp;
    thp = thp_default();
    thp.enabled = static_cast<thp_enabled>(keys.one_of("thp.enabled", {"always", "madvise", "never"}));
    thp.defrag = static_cast<thp_defrag>(keys.one_of("thp.defrag", {"always", "defer", "defer+madvise", "madvise", "never"}));
    thp.use_zero_page = keys.number("thp.use_zero_page", 0, 1) != 0;
    thp.khugepaged_defrag = keys.number("thp.khugepaged.defrag", 0, 1) != 0;
    thp.max_ptes_none = static_cast<uint32_t>(keys.number("thp.khugepaged.max_ptes_none", 0, 511));
    thp.max_ptes_swap = static_cast<uint32_t>(keys.number("thp.khugepaged.max_ptes_swap", 0, 511));
    thp.max_ptes_shared = static_cast<uint32_t>(keys.number("thp.khugepaged.max_ptes_shared", 0, 511));
    thp.pages_to_scan = static_cast<uint32_t>(keys.number("thp.khugepaged.pages_to_scan", 1, 1u << 30));
    scenario.scan_sleep_milliseconds = keys.number("thp.khugepaged.scan_sleep_milliseconds", 1, 1u << 30);
}

void read_fragmentation(Keys &keys, Scenario &scenario) {
    const size_t index = keys.one_of("fragmentation.index", {"none", "extfrag-index", "unusable-index"});
    fragmenter_goal &goal = scenario.fragmentation;
    scenario.fragmented = index > 0;
    goal.index = index == 1 ? FRAGMENTER_EXTFRAG : FRAGMENTER_UNUSABLE;
    goal.order = static_cast<unsigned>(keys.number("fragmentation.order", 1, PHYS_MAX_ORDER));
    goal.target = static_cast<int>(keys.number("fragmentation.target_thousandths", 0, 1000));
    goal.tolerance = static_cast<int>(keys.number("fragmentation.tolerance_thousandths", 0, 1000));
    goal.movable_share = static_cast<int>(keys.number("fragmentation.movable_share_thousandths", 0, 1000));
    goal.seed = keys.number("fragmentation.seed", 0, INT64_MAX);
}

void read_memory(Keys &keys, Scenario &scenario) {
    constexpr uint64_t most_bytes = uint64_t{1} << 40;
    scenario.swap_bytes = keys.number("swap.bytes", 0, most_bytes);
    if (scenario.swap_bytes % (1 << 20) != 0)
        keys.refuse("swap.bytes = " + std::to_string(scenario.swap_bytes), "a multiple of 1MB, 1048576 [os/scenario-value]");
    scenario.swap_synchronous = keys.number("swap.synchronous", 0, 1) != 0;
    scenario.swap_page_cluster = static_cast<uint32_t>(keys.number("swap.page_cluster", 0, 5));
    scenario.swappiness = static_cast<uint32_t>(keys.number("reclaim.swappiness", 0, 200));
    scenario.compacts_proactively = keys.number("compaction.proactive", 0, 1) != 0;
    scenario.caches_files = keys.one_of("page_cache.at_start", {"none", "files"}) == 1;
    scenario.other_cache_bytes = keys.number("page_cache.other_bytes", 0, most_bytes);
    scenario.huge_pages[HUGETLB_2MB] = keys.number("hugetlb.pages_2mb", 0, most_bytes >> 21);
    scenario.huge_pages[HUGETLB_1GB] = keys.number("hugetlb.pages_1gb", 0, most_bytes >> 30);
    scenario.areas_cost = keys.number("slab.areas", 0, 1) != 0;
    const std::vector<std::string> models = {"constant", "flash"};
    scenario.disk_model = models[keys.one_of("disk.model", models)];
}

}  // namespace

Scenario parse_scenario(const std::string &text, const std::string &path) {
    Keys keys(text, path);
    Scenario scenario;
    scenario.text = text;
    scenario.name = keys.word("name");
    scenario.memory_bytes = keys.number("memory_bytes", 16u << 20, uint64_t{1} << 40);
    if (scenario.memory_bytes % (1 << 20) != 0)
        keys.refuse("memory_bytes = " + std::to_string(scenario.memory_bytes), "a multiple of 1MB, 1048576 [os/scenario-value]");
    std::vector<std::string> policies;
    while (const char *policy = policy_name(policies.size())) policies.emplace_back(policy);
    scenario.policy = policy_named(policies[keys.one_of("policy", policies)].c_str());
    read_fragmentation(keys, scenario);
    read_thp(keys, scenario);
    read_memory(keys, scenario);
    scenario.frequency_hz = keys.number("time.frequency_hz", 1000, 1'000'000'000'000);
    scenario.instructions_per_1000_cycles = keys.number("time.instructions_per_1000_cycles", 1, 100'000);
    keys.end();
    return scenario;
}

Scenario read_scenario(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    if (!file.is_open()) throw Refusal("scenario " + path, std::strerror(errno), "check the path");
    return parse_scenario(text.str(), path);
}

}  // namespace tessera::os
