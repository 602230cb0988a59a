// What can pin frames, each made by its own system call. A child looks, since long-term kinds stay set.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "core/pins.h"
#include "core/sys.h"
#include "mosalloc/pool_map.h"

namespace mosalloc {
namespace {

/// what_pins in a child after `make`; 99 if `make` is not possible here.
template <class F>
long pins_after(F make, bool others) {
    const pid_t child = fork();
    if (child == 0) _exit(make() ? static_cast<int>(what_pins(others)) : 99);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

long make_ring() {
    io_uring_params params = {};
    return sys::call(SYS_io_uring_setup, 8, reinterpret_cast<long>(&params));
}

TEST(PinsTest, NothingPins) {
    EXPECT_EQ(pins_after([] { return true; }, true), 0);
}

TEST(PinsTest, ARingByItsDescriptor) {
    const long found = pins_after([] { return make_ring() >= 0; }, false);
    if (found == 99) GTEST_SKIP() << "io_uring is not allowed here";
    EXPECT_EQ(found, MOSALLOC_PIN_IO_URING);
}

TEST(PinsTest, ARingByItsMappingWhenTheDescriptorIsClosed) {
    const auto make = [] {
        const long ring = make_ring();
        if (ring < 0) return false;
        const long at = sys::mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(ring), IORING_OFF_SQ_RING);
        return sys::close(ring) == 0 && !sys::failed(at);
    };
    const long found = pins_after(make, false);
    if (found == 99) GTEST_SKIP() << "io_uring is not allowed here";
    EXPECT_EQ(found, MOSALLOC_PIN_IO_URING);
}

TEST(PinsTest, RegisteredBuffersAreCountedByTheKernel) {
    const auto make = [] {
        const long ring = make_ring();
        const long at = sys::mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE);
        const struct {
            long base, bytes;
        } buffer = {at, 1 << 20};
        return ring >= 0 && sys::call(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, reinterpret_cast<long>(&buffer), 1) == 0;
    };
    const long found = pins_after(make, false);
    if (found == 99) GTEST_SKIP() << "io_uring is not allowed here";
    EXPECT_EQ(found, MOSALLOC_PIN_IO_URING | MOSALLOC_PIN_MEMORY);
}

TEST(PinsTest, AContextOfLinuxAio) {
    const auto make = [] {
        static aio_context_t context = 0;
        return sys::call(SYS_io_setup, 8, reinterpret_cast<long>(&context)) == 0;
    };
    const long found = pins_after(make, false);
    if (found == 99) GTEST_SKIP() << "AIO is not allowed here";
    EXPECT_EQ(found, MOSALLOC_PIN_AIO);
}

TEST(PinsTest, DirectDescriptorsCountOnlyBesideOtherTasksAndAreForgotten) {
    char path[] = "/var/tmp/pins-XXXXXX";
    const int file = mkstemp(path);
    ASSERT_GE(file, 0);
    const int direct = open(path, O_RDONLY | O_DIRECT);
    unlink(path);
    if (direct < 0) GTEST_SKIP() << "no O_DIRECT on the file system of /var/tmp";
    EXPECT_EQ(pins_after([] { return true; }, false), 0);
    EXPECT_EQ(pins_after([] { return true; }, true), MOSALLOC_PIN_DIRECT);
    const auto close_it = [=] { return what_pins(true) == MOSALLOC_PIN_DIRECT && close(direct) == 0; };
    EXPECT_EQ(pins_after(close_it, true), 0);
    close(direct);
    close(file);
}

TEST(PinsTest, LinesLongerThanTheBufferHideNothing) {
    // 600 mappings of one descriptor fill many reads; the ring is last.
    const auto make = [] {
        for (int i = 0; i < 600; ++i)
            if (sys::failed(sys::mmap(0, 4096, i % 2 == 0 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS))) return false;
        return make_ring() >= 0;
    };
    const long found = pins_after(make, false);
    if (found == 99) GTEST_SKIP() << "io_uring is not allowed here";
    EXPECT_EQ(found, MOSALLOC_PIN_IO_URING);
}

}  // namespace
}  // namespace mosalloc
