// result.h - the JSON line that each program prints at its end, in the order the fields were added.
//
// Names are fixed, and values are numbers, booleans or words without quotes, so nothing is escaped. A value
// that needs escaping throws Error.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

#include "common/error.h"

namespace tessera::workloads {

class Result {
public:
    explicit Result(const std::string& workload) { add("workload", workload); }

    Result& add(const std::string& name, uint64_t value) { return put(name, std::to_string(value)); }
    Result& add(const std::string& name, bool value) { return put(name, value ? "true" : "false"); }
    Result& add(const std::string& name, double value) {
        std::ostringstream out;
        out.precision(9);
        out << value;
        return put(name, out.str());
    }
    Result& add(const std::string& name, const char* value) { return add(name, std::string(value)); }
    Result& add(const std::string& name, const std::string& value) {
        for (const char c : value)
            if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20)
                throw Error("result field '" + name + "'", "its text needs escaping in JSON", "use only plain words in results",
                            kExitFailed);
        return put(name, "\"" + value + "\"");
    }

    std::string line() const { return "{" + fields_ + "}\n"; }

private:
    Result& put(const std::string& name, const std::string& json) {
        fields_ += (fields_.empty() ? "\"" : ", \"") + name + "\": " + json;
        return *this;
    }

    std::string fields_;
};

}  // namespace tessera::workloads
