#include "ring.h"

#include <cerrno>
#include <cstring>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace lives {
namespace {

constexpr unsigned kTries = 1000;

template <class T>
T* at(char* base, uint32_t offset) {
    return reinterpret_cast<T*>(base + offset);
}

long result_of(long returned) { return returned < 0 ? -errno : returned; }

}  // namespace

bool Ring::open() {
    io_uring_params p = {};
    fd_ = static_cast<int>(syscall(SYS_io_uring_setup, 4, &p));
    if (fd_ < 0) return false;
    const size_t submit = p.sq_off.array + p.sq_entries * sizeof(uint32_t);
    const size_t done = p.cq_off.cqes + p.cq_entries * sizeof(io_uring_cqe);
    rings_bytes_ = submit > done ? submit : done;
    entries_bytes_ = p.sq_entries * sizeof(io_uring_sqe);
    constexpr int kProt = PROT_READ | PROT_WRITE, kFlags = MAP_SHARED | MAP_POPULATE;
    rings_ = static_cast<char*>(mmap(nullptr, rings_bytes_, kProt, kFlags, fd_, IORING_OFF_SQ_RING));
    entries_ = static_cast<char*>(mmap(nullptr, entries_bytes_, kProt, kFlags, fd_, IORING_OFF_SQES));
    if ((p.features & IORING_FEAT_SINGLE_MMAP) == 0 || rings_ == MAP_FAILED || entries_ == MAP_FAILED) {
        ::close(fd_);
        fd_ = -1;
        return false;
    }
    submit_tail_ = at<uint32_t>(rings_, p.sq_off.tail);
    submit_mask_ = at<uint32_t>(rings_, p.sq_off.ring_mask);
    submit_array_ = at<uint32_t>(rings_, p.sq_off.array);
    done_head_ = at<uint32_t>(rings_, p.cq_off.head);
    done_tail_ = at<uint32_t>(rings_, p.cq_off.tail);
    done_mask_ = at<uint32_t>(rings_, p.cq_off.ring_mask);
    done_ = rings_ + p.cq_off.cqes;
    return true;
}

long Ring::pin(char* buffer, size_t bytes) {
    const iovec one = {buffer, bytes};
    return result_of(syscall(SYS_io_uring_register, fd_, IORING_REGISTER_BUFFERS, &one, 1));
}

long Ring::read_fixed(int file, char* buffer, size_t bytes, uint64_t offset) {
    long got = -ECANCELED;
    for (unsigned tries = 0; tries < kTries && got == -ECANCELED; ++tries) got = read_once(file, buffer, bytes, offset);
    return got;
}

long Ring::read_once(int file, char* buffer, size_t bytes, uint64_t offset) {
    const uint32_t tail = *submit_tail_, slot = tail & *submit_mask_;
    auto* entry = reinterpret_cast<io_uring_sqe*>(entries_) + slot;
    memset(static_cast<void*>(entry), 0, sizeof *entry);
    entry->opcode = IORING_OP_READ_FIXED;
    entry->fd = file;
    entry->off = offset;
    entry->addr = reinterpret_cast<uint64_t>(buffer);
    entry->len = static_cast<uint32_t>(bytes);
    submit_array_[slot] = slot;
    __atomic_store_n(submit_tail_, tail + 1, __ATOMIC_RELEASE);
    unsigned to_submit = 1;
    while (*done_head_ == __atomic_load_n(done_tail_, __ATOMIC_ACQUIRE)) {
        const long got = syscall(SYS_io_uring_enter, fd_, to_submit, 1, IORING_ENTER_GETEVENTS, nullptr, 0);
        if (got < 0 && errno != EINTR) return -errno;  // EINTR: a timer; what was submitted is counted first
        if (got > 0) to_submit = 0;
    }
    const uint32_t head = *done_head_;
    const long result = (reinterpret_cast<io_uring_cqe*>(done_) + (head & *done_mask_))->res;
    __atomic_store_n(done_head_, head + 1, __ATOMIC_RELEASE);
    return result;
}

void Ring::close() {
    if (fd_ < 0) return;
    munmap(rings_, rings_bytes_);
    munmap(entries_, entries_bytes_);
    ::close(fd_);
    fd_ = -1;
}

}  // namespace lives
