// cli_output_test.cpp - output files: a full disk is reported, and an input is never overwritten.
#include "cli_fixture.h"

namespace tessera::sim::testing {
namespace {

class CliOutput : public CliFixture {
protected:
    /// With standard output on a device that takes nothing.
    Output run_on_full_disk(const std::string& arguments) const {
        const int status = std::system((std::string(TESSERA_SIM) + " " + arguments + " >/dev/full 2>" + path("err")).c_str());
        return {WEXITSTATUS(status), "", read_text(path("err"), "output")};
    }
    std::string profile(const std::string& out) const {
        return "profile --trace " + path("trace.tst") + " --platform " + path("haswell.flat") + " --out " + out;
    }
    std::string blocks(const std::string& out) const { return "blocks --trace " + path("trace.tst") + " --instructions 100 --out " + out; }
};

TEST_F(CliOutput, AFullDiskIsAFailureThatNamesTheFile) {
    for (const std::string& arguments : {common("partial"), std::string("keys"), std::string("engines"), std::string("list"),
                                         std::string("cpuid"), std::string("--help"), "check --platform " + path("haswell.flat")}) {
        const Output o = run_on_full_disk(arguments);
        EXPECT_EQ(o.status, 1) << arguments;
        EXPECT_NE(o.err.find("standard output"), std::string::npos) << arguments << "\n" << o.err;
        EXPECT_NE(o.err.find("what to do: "), std::string::npos) << arguments << "\n" << o.err;
    }
    for (const std::string& arguments : {common("partial") + " --interval-out /dev/full", profile("/dev/full"), blocks("/dev/full")}) {
        const Output o = run(arguments);
        EXPECT_EQ(o.status, 1) << arguments;
        EXPECT_NE(o.err.find("/dev/full"), std::string::npos) << arguments << "\n" << o.err;
    }
}

TEST_F(CliOutput, WhatCannotBeWrittenIsRefused) {
    for (const std::string& arguments :
         {common("partial") + " --interval-out " + folder.string(), profile(path("absent/x")), blocks(path("trace.tst/x"))}) {
        const Output o = run(arguments);
        EXPECT_EQ(o.status, 2) << arguments;
        EXPECT_EQ(o.out, "") << arguments;
    }
}

TEST_F(CliOutput, AnInputIsNotWrittenOver) {
    file("units", "start_access,warmup_accesses,timed_instructions,weight\n0,0,10,1\n");
    std::filesystem::create_symlink(path("trace.tst"), path("link"));
    const std::string partial = common("partial") + " --interval-file " + path("units") + " --interval-out ";
    for (const std::string& arguments : {partial + path("trace.tst"), partial + path("link"), partial + path("haswell.flat"),
                                         partial + path("list"), partial + path("growing-8.csv"), partial + path("units"),
                                         profile(path("trace.tst")), profile(path("haswell.flat")), blocks(path("link"))}) {
        const Output o = run(arguments);
        EXPECT_EQ(o.status, 2) << arguments;
        EXPECT_NE(o.err.find("input"), std::string::npos) << o.err;
    }
    EXPECT_EQ(run(partial + path("fresh")).status, 0) << "every input is as it was";
}

}  // namespace
}  // namespace tessera::sim::testing
