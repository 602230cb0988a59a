#include "counters/refused.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

using namespace tessera::counters;
using tessera::Problem;

namespace {

Problem of(int error, bool kernel = false) {
    Event event;
    event.name = "walks";
    event.user = true;
    event.kernel = kernel;
    return refused(event, error);
}

TEST(Refused, EachErrorNamesEventCauseAndRemedy) {
    for (const int error : {EACCES, EPERM, ENOENT, EOPNOTSUPP, ENODEV, ENXIO, EINVAL, EBUSY, ENOSPC, E2BIG, EMFILE, EBADF, ENOSYS, EIO}) {
        const Problem problem = of(error);
        EXPECT_EQ(problem.asked, "event walks");
        EXPECT_NE(problem.found.find(strerror(error)), std::string::npos) << error;
        EXPECT_NE(problem.found.find("errno " + std::to_string(error)), std::string::npos) << error;
        EXPECT_FALSE(problem.remedy.empty()) << error;
    }
}

TEST(Refused, PermissionNamesTheLevelThatIsAndTheOneThatIsEnough) {
    std::string level;
    std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level;
    if (level.empty()) GTEST_SKIP() << "this kernel has no counters";
    for (const int error : {EACCES, EPERM}) {
        EXPECT_NE(of(error).found.find("perf_event_paranoid is " + level), std::string::npos);
        EXPECT_NE(of(error).remedy.find("perf_event_paranoid=2"), std::string::npos);  // the user's mode
        EXPECT_NE(of(error, true).remedy.find("perf_event_paranoid=1"), std::string::npos);
    }
}

}  // namespace
