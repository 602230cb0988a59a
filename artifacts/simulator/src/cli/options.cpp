#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"

namespace tessera::sim {

Options::Options(const std::string& command, int argc, char** argv, const std::vector<std::string>& required,
                 const std::map<std::string, std::string>& optional) {
    std::vector<std::string> valid;
    for (const std::string& key : required) valid.push_back("--" + key);
    for (const auto& [key, value] : optional) valid.push_back("--" + key);
    const std::string usage = "tessera-sim " + command + " takes " + join(valid, ", ") + ", each with a value";
    for (int i = 0; i < argc; i += 2) {
        const std::string flag = argv[i];
        const bool known = flag.size() > 2 && flag.starts_with("--") && join(valid, " ").append(" ").find(flag + " ") != std::string::npos;
        if (!known) throw Refusal(command + ": option " + flag, "no such option", usage);
        if (i + 1 == argc) throw Refusal(command + ": option " + flag, "no value", usage);
        if (!values_.emplace(flag.substr(2), argv[i + 1]).second) throw Refusal(command + ": option " + flag, "given twice", usage);
    }
    for (const std::string& key : required)
        if (!values_.contains(key)) throw Refusal(command + ": option --" + key, "missing", usage);
    values_.insert(optional.begin(), optional.end());
}

}  // namespace tessera::sim
