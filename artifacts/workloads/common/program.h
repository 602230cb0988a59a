// program.h - what the three main functions share: help, errors, the result line and the exit status.
//
// A workload's body takes the checked arguments and returns an Outcome. The result line is always printed
// and says whether the answer was verified. A wrong answer gives exit status 1.
#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "common/arguments.h"
#include "common/error.h"
#include "common/result.h"

namespace tessera::workloads {

struct Outcome {
    Result result;
    std::string complaint;  ///< empty: verified; else what the verifier found
};

inline Parameter seed_parameter() { return {"seed", Kind::count, "1", 0, 9007199254740992.0, "seed of all random sequences"}; }

inline Parameter corrupt_parameter() {
    return {"self-test-corrupt", Kind::flag, "", 0, 0, "damage the answer before it is verified, to see the verifier fail", {}, true};
}

template <class Body>
int run_program(const std::string& name, const std::string& summary, std::vector<Parameter> table, int argc, const char* const* argv,
                Body&& body) {
    try {
        const Arguments arguments(name, std::move(table), argc, argv);
        if (arguments.help_asked()) {
            std::fputs(arguments.help(summary).c_str(), stdout);
            return 0;
        }
        Outcome outcome = body(arguments);
        outcome.result.add("verified", outcome.complaint.empty());
        std::fputs(outcome.result.line().c_str(), stdout);
        if (!outcome.complaint.empty())
            throw Error(name + ": verification", outcome.complaint,
                        "do not use this run; check the memory of the machine, the compiler and the kernel", kExitFailed);
        return 0;
    } catch (const Error& error) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s\n", error.what());
        return error.exit_status();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: running: %s\n  what to do: report it with the command line\n", name.c_str(), error.what());
        return kExitFailed;
    }
}

}  // namespace tessera::workloads
