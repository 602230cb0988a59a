// The JSON line.
#include "common/result.h"

#include <gtest/gtest.h>

using namespace tessera::workloads;

namespace {

TEST(Result, IsOneJsonObjectInOrder) {
    Result result("gups");
    result.add("reads", uint64_t{18446744073709551615u}).add("verified", true).add("x", 0.5).add("g", "kron");
    EXPECT_EQ(result.line(),
              "{\"workload\": \"gups\", \"reads\": 18446744073709551615, "
              "\"verified\": true, \"x\": 0.5, \"g\": \"kron\"}\n");
}

TEST(Result, RefusesTextThatNeedsEscaping) {
    EXPECT_THROW(Result("a\"b"), Error);
    EXPECT_THROW(Result("a\nb"), Error);
}

}  // namespace
