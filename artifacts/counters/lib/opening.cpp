#include "counters/opening.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/refused.h"

namespace tessera::counters {
namespace {

/// What the program's process says: all is well (`event` -1), or which event failed and why.
struct Word {
    int event = -1, error = 0;
};

int open_event(const Event& event, int leader, bool at_exec) {
    perf_event_attr attributes = {};
    attributes.size = sizeof attributes;
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.config1 = event.config1;
    attributes.config2 = event.config2;
    attributes.bp_type = event.breakpoint;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attributes.inherit = 1;
    attributes.exclude_user = event.user ? 0 : 1;
    attributes.exclude_kernel = attributes.exclude_hv = event.kernel ? 0 : 1;
    const bool leads = leader == -1;
    attributes.disabled = leads ? 1 : 0;
    attributes.pinned = leads ? 1 : 0;  // with all its members on counters always, or in error: never multiplexed
    attributes.enable_on_exec = leads && at_exec ? 1 : 0;
    return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

bool send(int socket, const Word& word, const std::vector<int>& descriptors) {
    iovec data = {const_cast<Word*>(&word), sizeof word};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * kMostEvents)] = {};
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        const size_t bytes = sizeof(int) * descriptors.size();
        message.msg_control = space;
        message.msg_controllen = CMSG_SPACE(bytes);
        cmsghdr* head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(bytes);
        memcpy(CMSG_DATA(head), descriptors.data(), bytes);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof word);
}

}  // namespace

int controlled(const std::vector<Event>& events) {
    int alone = 0;
    for (const Event& event : events) alone += event.alone() ? 1 : 0;
    return alone + (static_cast<size_t>(alone) < events.size() ? 1 : 0);
}

bool open_and_send(const std::vector<Event>& events, bool at_exec, int first, int socket) {
    std::vector<int> opened;
    int leader = -1, next = first;
    const int last = first + controlled(events) - 1;
    const auto failed = [&](size_t index) {
        send(socket, {static_cast<int>(index), errno}, {});
        return false;
    };
    for (size_t i = 0; i < events.size(); ++i) {
        const bool member = !events[i].alone() && leader != -1, leads = !events[i].alone() && leader == -1;
        const int file = open_event(events[i], member ? leader : -1, at_exec);
        if (file < 0) return failed(i);
        opened.push_back(file);
        if (leads) leader = file;
        // The copy stays open over exec.
        if (!at_exec && !member && dup2(file, leads ? last : next++) < 0) return failed(i);
    }
    return send(socket, {}, opened);
}

Problem receive(const std::vector<Event>& events, int socket, std::vector<int>* descriptors) {
    Word word;
    iovec data = {&word, sizeof word};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * kMostEvents)] = {};
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    ssize_t got = -1;
    do got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    const Problem broken = {"counters", "the program's process ended before they were open", "run it again"};
    if (got != static_cast<ssize_t>(sizeof word)) return broken;
    if (word.event >= 0 && static_cast<size_t>(word.event) < events.size())
        return refused(events[static_cast<size_t>(word.event)], word.error);
    const cmsghdr* head = CMSG_FIRSTHDR(&message);
    const size_t bytes = sizeof(int) * events.size();
    if (head == nullptr || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(bytes))
        return {"counters", "the launcher received fewer descriptors than events", "raise the limit of open files: ulimit -n"};
    descriptors->resize(events.size());
    memcpy(descriptors->data(), CMSG_DATA(head), bytes);
    return {};
}

}  // namespace tessera::counters
