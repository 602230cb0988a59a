// error.h - a Problem as an exception, with the exit status that it leads to.
#pragma once

#include <stdexcept>
#include <string>

#include "tessera/common/problem.h"

namespace tessera {

class Error : public std::runtime_error {
public:
    explicit Error(const Problem& problem, int exit_status = kExitUsage)
        : std::runtime_error(problem.message()), problem_(problem), exit_status_(exit_status) {}
    Error(std::string asked, std::string found, std::string remedy, int exit_status = kExitUsage)
        : Error(Problem{std::move(asked), std::move(found), std::move(remedy)}, exit_status) {}

    const Problem& problem() const { return problem_; }
    int exit_status() const { return exit_status_; }

private:
    Problem problem_;
    int exit_status_;
};

}  // namespace tessera
