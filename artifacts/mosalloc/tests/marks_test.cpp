// marks_test.cpp - marks of mappings end when their memory is unused, in 4KB parts and in windows, and never reach free memory.
#include <linux/mempolicy.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/advice.h"
#include "core/marking.h"
#include "space_fixture.h"

namespace mosalloc {

class MarksTest : public SpaceFixture {
protected:
    void build_with(Protections protections, bool windows) {
        Policy policy;
        policy.protections = protections;
        build(windows, policy);
    }
    Range pages(uint64_t from, uint64_t to) { return {anon_base() + from * kPage4K, anon_base() + to * kPage4K}; }

    static int policy_at(uint64_t address) {
        int mode = -1;
        const long result = sys::call(SYS_get_mempolicy, reinterpret_cast<long>(&mode), 0, 0, static_cast<long>(address), MPOL_F_ADDR);
        return sys::failed(result) ? -1 : mode;
    }
    long set_policy(Range addresses, int mode) {
        const long allowed = allow_policy(space, addresses, mode == MPOL_DEFAULT);
        space.publish();
        uint64_t node = 1;
        if (sys::failed(allowed)) return allowed;
        return sys::call(SYS_mbind, static_cast<long>(addresses.start), static_cast<long>(addresses.bytes()), mode,
                         mode == MPOL_DEFAULT ? 0 : reinterpret_cast<long>(&node), mode == MPOL_DEFAULT ? 0 : 64);
    }
    bool policies() {
        const int mode = policy_at(anon_base());
        return mode >= 0;
    }
};

#define NEED_POLICIES() \
    if (!policies()) GTEST_SKIP() << "this kernel has no NUMA policies, or a filter denies them"

TEST_F(MarksTest, APolicyEndsWithItsMemory) {
    build_with(Protections::guards, false);
    NEED_POLICIES();
    ASSERT_EQ(map_pages(16), static_cast<long>(pages(0, 16).start));
    EXPECT_EQ(set_policy(pages(4, 8), MPOL_BIND), 0);
    EXPECT_EQ(policy_at(pages(4, 8).start), MPOL_BIND);
    EXPECT_EQ(policy_at(pages(8, 9).start), MPOL_DEFAULT);
    EXPECT_EQ(space.unmap(pages(5, 6)), 0);
    EXPECT_EQ(policy_at(pages(5, 6).start), MPOL_DEFAULT);
    EXPECT_EQ(set_policy(pages(4, 8), MPOL_BIND), -EFAULT);  // a hole
    EXPECT_EQ(set_policy(pages(4, 8), MPOL_DEFAULT), 0);
    EXPECT_EQ(policy_at(pages(7, 8).start), MPOL_DEFAULT);
    EXPECT_EQ(map.ended_marks, 1u);
    EXPECT_EQ(map.refused_marks, 0u);
}

TEST_F(MarksTest, WindowsTakePoliciesOfWholePagesOnly) {
    build_with(Protections::guards, true);
    NEED_POLICIES();
    ASSERT_EQ(map_pages(1024), static_cast<long>(pages(0, 1024).start));
    EXPECT_EQ(set_policy(pages(0, 8), MPOL_BIND), -EINVAL);
    EXPECT_EQ(set_policy(pages(504, 520), MPOL_BIND), -EINVAL);  // ends in 4KB pages
    EXPECT_EQ(map.refused_marks, 2u);
    EXPECT_EQ(policy_at(pages(519, 520).start), MPOL_DEFAULT);
    EXPECT_EQ(set_policy(pages(0, 8), MPOL_DEFAULT), 0);  // nothing to reset
    EXPECT_EQ(set_policy(pages(0, 520), MPOL_BIND), 0);
    EXPECT_EQ(policy_at(pages(100, 101).start), MPOL_BIND);
    EXPECT_EQ(map.refused_marks, 2u);
}

TEST_F(MarksTest, APolicyOfAWindowEndsWhenAllOfThePageIsUnused) {
    build_with(Protections::soft, true);
    NEED_POLICIES();
    ASSERT_EQ(map_pages(512), static_cast<long>(pages(0, 512).start));
    ASSERT_EQ(set_policy(pages(0, 512), MPOL_BIND), 0);
    EXPECT_EQ(space.unmap(pages(0, 256)), 0);
    EXPECT_EQ(map_pages(256), static_cast<long>(pages(0, 256).start));
    EXPECT_EQ(space.unmap(pages(256, 512)), 0);
    EXPECT_EQ(policy_at(pages(300, 301).start), MPOL_BIND);
    EXPECT_EQ(map.ended_marks, 0u);
    EXPECT_EQ(space.unmap(pages(0, 256)), 0);
    EXPECT_EQ(policy_at(pages(0, 1).start), MPOL_DEFAULT);
    EXPECT_EQ(map.ended_marks, 1u);
    EXPECT_EQ(map_pages(512), static_cast<long>(pages(0, 512).start));
    EXPECT_EQ(space.unmap(pages(0, 512)), 0);
    EXPECT_EQ(map.ended_marks, 1u);
}

TEST_F(MarksTest, ASplitKeepsThePolicyOfUsedMemoryOnly) {
    build_with(Protections::guards, true);
    NEED_POLICIES();
    ASSERT_EQ(map_pages(512), static_cast<long>(pages(0, 512).start));
    ASSERT_EQ(set_policy(pages(0, 512), MPOL_BIND), 0);
    EXPECT_EQ(space.unmap(pages(100, 200)), 0);
    EXPECT_EQ(space.protect(pages(10, 11), PROT_NONE), 0);
    ASSERT_EQ(map.split_pages, 1u);
    EXPECT_EQ(policy_at(pages(50, 51).start), MPOL_BIND);
    EXPECT_EQ(policy_at(pages(150, 151).start), MPOL_DEFAULT);
    EXPECT_EQ(map_pages(100), static_cast<long>(pages(100, 200).start));
    EXPECT_EQ(policy_at(pages(150, 151).start), MPOL_DEFAULT);
    EXPECT_EQ(space.unmap(pages(0, 512)), 0);
    EXPECT_EQ(policy_at(pages(50, 51).start), MPOL_DEFAULT);
}

TEST_F(MarksTest, AdviceThatAHugePageCannotKeepIsAnError) {
    build_with(Protections::soft, true);
    ASSERT_EQ(map_pages(512), static_cast<long>(pages(0, 512).start));
    EXPECT_EQ(space.advise(pages(1, 2), MADV_WIPEONFORK), -EINVAL);
    EXPECT_EQ(space.advise(pages(0, 512), MADV_WIPEONFORK), -EINVAL);
    EXPECT_EQ(space.advise(pages(1, 2), MADV_DONTFORK), -EINVAL);
    EXPECT_EQ(map.refused_marks, 3u);
    EXPECT_EQ(space.advise(pages(1, 2), MADV_DOFORK), 0);  // nothing to undo
    EXPECT_EQ(space.advise(pages(1, 2), MADV_KEEPONFORK), 0);
    EXPECT_EQ(space.advise(pages(0, 512), MADV_DONTFORK), 0);
    EXPECT_EQ(space.advise(pages(1, 2), MADV_DOFORK), -EINVAL);
    EXPECT_EQ(space.advise(pages(0, 512), MADV_DOFORK), 0);
    EXPECT_EQ(space.advise(pages(1, 2), MADV_DOFORK), 0);
    EXPECT_EQ(map.refused_marks, 4u);
    EXPECT_EQ(map.split_pages, 0u);
}

TEST_F(MarksTest, AChildReservesItsHolesAgain) {
    build_with(Protections::guards, true);
    ASSERT_EQ(map_pages(1024), static_cast<long>(pages(0, 1024).start));
    memset(reinterpret_cast<void*>(anon_base()), 'x', 1024 * kPage4K);
    ASSERT_EQ(space.advise(pages(0, 512), MADV_DONTFORK), 0);    // a window
    ASSERT_EQ(space.advise(pages(600, 700), MADV_DONTFORK), 0);  // 4KB pages
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        space.adopt_child();
        const Pool& pool = space.pool(MOSALLOC_POOL_ANON);
        const bool free = space.vacant(pages(0, 512)) && space.vacant(pages(600, 700)) && !space.vacant(pages(700, 701));
        const bool small = !pool.touches_window({0, kPage2M});
        const bool reserved =
            sys::mmap(pages(600, 601).start, kPage4K, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE) == -EEXIST;
        const bool taken = map_pages(512) == static_cast<long>(anon_base());
        const bool zero = taken && *reinterpret_cast<char*>(anon_base() + 5) == 0;
        const bool kept = *reinterpret_cast<char*>(pages(700, 701).start) == 'x';
        _exit(free ? small ? reserved ? taken ? zero ? kept ? 0 : 6 : 5 : 4 : 3 : 2 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
    EXPECT_FALSE(space.vacant(pages(600, 700)));
    EXPECT_EQ(*reinterpret_cast<char*>(pages(0, 1).start), 'x');
}

TEST_F(MarksTest, ADetachedSegmentIsFreeMemory) {
    build_with(Protections::guards, false);
    const int id = shmget(IPC_PRIVATE, 4 * kPage4K, 0600);
    if (id < 0) GTEST_SKIP() << "no shared memory here";
    ASSERT_EQ(map_pages(16), static_cast<long>(pages(0, 16).start));
    memset(reinterpret_cast<void*>(anon_base()), 'x', 16 * kPage4K);
    EXPECT_EQ(attach(space, pages(4, 5).start, id, 0), -EINVAL);
    EXPECT_EQ(attach(space, pages(4, 5).start + 1, id, SHM_REMAP), -EINVAL);
    EXPECT_EQ(attach(space, pages(4, 5).start, id, SHM_REMAP), static_cast<long>(pages(4, 5).start));
    EXPECT_EQ(attach(space, pages(16, 17).start, id, 0), static_cast<long>(pages(16, 17).start));  // behind it, twice
    // The program replaces a page of the first attachment by its own memory.
    EXPECT_EQ(space.map_fixed(pages(5, 6), {PROT_READ | PROT_WRITE}), static_cast<long>(pages(5, 6).start));
    EXPECT_EQ(detach(space, pages(4, 5).start), 0);
    EXPECT_TRUE(space.vacant(pages(4, 5)));
    EXPECT_FALSE(space.vacant(pages(5, 6)));
    EXPECT_TRUE(space.vacant(pages(6, 8)));
    EXPECT_FALSE(space.vacant(pages(16, 20)));
    EXPECT_EQ(*reinterpret_cast<char*>(pages(3, 4).start), 'x');
    EXPECT_EQ(detach(space, pages(16, 17).start), 0);
    EXPECT_TRUE(space.vacant(pages(16, 20)));
    EXPECT_EQ(detach(space, pages(4, 5).start), -EINVAL);
    shmctl(id, IPC_RMID, nullptr);
}

}  // namespace mosalloc
