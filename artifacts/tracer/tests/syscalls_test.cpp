// The copies of system calls, with arguments in x86-64's calling convention.
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cstring>

#include "plugin/guest_memory.h"
#include "plugin/syscalls.h"

namespace tessera::tracer {
namespace {

uint64_t at(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

struct Expected {
    uint64_t begin, bytes;
    bool stores;
};

void expect(const SystemCall& call, int64_t result, const std::vector<Expected>& wanted) {
    const auto found = copies_of(call, result, read_guest);
    ASSERT_EQ(found.size(), wanted.size()) << "call " << call.number;
    for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].begin, wanted[i].begin);
        EXPECT_EQ(found[i].bytes, wanted[i].bytes);
        EXPECT_EQ(found[i].stores, wanted[i].stores);
    }
}

TEST(SystemCalls, BuffersAreAsLongAsTheResult) {
    char buffer[256];
    expect({SYS_read, {3, at(buffer), 256}}, 100, {{at(buffer), 100, true}});
    expect({SYS_write, {1, at(buffer), 256}}, 256, {{at(buffer), 256, false}});
    expect({SYS_recvfrom, {3, at(buffer), 256, 0, 0, 0}}, 7, {{at(buffer), 7, true}});
    expect({SYS_sendto, {3, at(buffer), 256, 0, 0, 0}}, 7, {{at(buffer), 7, false}});
    expect({SYS_getrandom, {at(buffer), 16, 0}}, 16, {{at(buffer), 16, true}});
    expect({SYS_readlinkat, {3, 0, at(buffer), 256}}, 12, {{at(buffer), 12, true}});
}

TEST(SystemCalls, FailedEmptyAndOtherCallsCopyNothing) {
    char buffer[8];
    expect({SYS_read, {3, at(buffer), 8}}, -EAGAIN, {});
    expect({SYS_read, {3, at(buffer), 8}}, 0, {});
    expect({SYS_getpid, {}}, 42, {});
    expect({SYS_stat, {at("x"), at(buffer)}}, -ENOENT, {});
}

TEST(SystemCalls, VectorsAreFilledInOrderUpToTheResult) {
    char a[10], b[20], c[30];
    const iovec vectors[] = {{a, 10}, {b, 20}, {c, 30}};
    expect({SYS_readv, {3, at(vectors), 3}}, 25, {{at(a), 10, true}, {at(b), 15, true}});
    expect({SYS_writev, {3, at(vectors), 3}}, 60, {{at(a), 10, false}, {at(b), 20, false}, {at(c), 30, false}});
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(vectors);
    message.msg_iovlen = 2;
    expect({SYS_sendmsg, {3, at(&message), 0}}, 11, {{at(a), 10, false}, {at(b), 1, false}});
    expect({SYS_recvmsg, {3, at(&message), 0}}, 30, {{at(a), 10, true}, {at(b), 20, true}});
}

TEST(SystemCalls, ResultsOfFixedSizeAndOfElements) {
    struct stat status;
    expect({SYS_newfstatat, {3, at("x"), at(&status), 0}}, 0, {{at(&status), sizeof status, true}});
    char events[120];
    expect({SYS_epoll_wait, {3, at(events), 10, 5}}, 2, {{at(events), 24, true}});
    expect({SYS_epoll_wait, {3, at(events), 10, 5}}, 0, {});
}

TEST(SystemCalls, AnUnreadableVectorIsNoCrash) {
    expect({SYS_readv, {3, 8, 3}}, 25, {});
    expect({SYS_sendmsg, {3, 8, 0}}, 25, {});
}

}  // namespace
}  // namespace tessera::tracer
