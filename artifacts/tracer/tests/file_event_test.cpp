// Events that begin a region: the end of a file's reading, the first output to a file.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstring>
#include <string>

#include "plugin/file_event.h"
#include "plugin/guest_memory.h"

namespace tessera::tracer {
namespace {

uint64_t at(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

bool is(FileEvent& event, const SystemCall& call, int64_t result) { return event.is(call, result, read_guest); }

TEST(FileEvent, ClosedIsTheCloseOfTheNamedFile) {
    FileEvent event(FileEvent::Kind::closed, "auction.xml");
    EXPECT_FALSE(is(event, {SYS_close, {4}}, 0));
    EXPECT_FALSE(is(event, {SYS_openat, {0, at("/run/report.xsl")}}, 3));
    EXPECT_FALSE(is(event, {SYS_openat, {0, at("/run/auction.xml")}}, 4));
    EXPECT_FALSE(is(event, {SYS_read, {4, 0, 8}}, 8));
    EXPECT_FALSE(is(event, {SYS_close, {3}}, 0));
    EXPECT_FALSE(is(event, {SYS_close, {4}}, -9));
    EXPECT_TRUE(is(event, {SYS_close, {4}}, 0));
    EXPECT_FALSE(is(event, {SYS_close, {4}}, 0));  // the descriptor is another file's by now
}

TEST(FileEvent, WrittenIsTheFirstWriteToTheNamedFile) {
    FileEvent event(FileEvent::Kind::written, "report.txt");
    EXPECT_FALSE(is(event, {SYS_open, {at("report.txt")}}, 3));
    EXPECT_FALSE(is(event, {SYS_write, {1, 0, 8}}, 8));
    EXPECT_FALSE(is(event, {SYS_write, {3, 0, 8}}, -28));
    EXPECT_TRUE(is(event, {SYS_write, {3, 0, 8}}, 8));
    EXPECT_TRUE(is(event, {SYS_writev, {3, 0, 1}}, 8));
}

TEST(FileEvent, OnlyTheWholeNameCountsAndOnlyIfItWasOpened) {
    FileEvent event(FileEvent::Kind::closed, "a.xml");
    EXPECT_FALSE(is(event, {SYS_openat, {0, at("/run/aa.xml")}}, 3));
    EXPECT_FALSE(is(event, {SYS_openat, {0, at("/run/a.xml/b")}}, 4));
    EXPECT_FALSE(is(event, {SYS_openat, {0, at("/run/a.xml")}}, -2));
    for (uint64_t descriptor = 0; descriptor < 8; ++descriptor) EXPECT_FALSE(is(event, {SYS_close, {descriptor}}, 0));
}

TEST(FileEvent, TextsEndAtTheirZeroAlsoBeforeAPageThatIsNotThere) {
    char* const pages = static_cast<char*>(mmap(nullptr, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void*>(pages), MAP_FAILED);
    munmap(pages + 4096, 4096);
    std::strcpy(pages + 4096 - 6, "a.xml");
    EXPECT_EQ(text_at(at(pages + 4096 - 6), read_guest), "a.xml");
    pages[4095] = 'x';  // no zero before the end
    EXPECT_EQ(text_at(at(pages + 4096 - 6), read_guest), "");
    EXPECT_EQ(text_at(0, read_guest), "");
    const std::string longest(4095, 'p'), too_long(4096, 'p');
    EXPECT_EQ(text_at(at(longest.c_str()), read_guest), longest);
    EXPECT_EQ(text_at(at(too_long.c_str()), read_guest), "");
}

}  // namespace
}  // namespace tessera::tracer
