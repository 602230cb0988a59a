#include "counters/counting.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counters/clock.h"
#include "counters/opening.h"

namespace tessera::counters {
namespace {

constexpr char kReadMore[] = "see: tessera-count --help";
constexpr long kLargestFile = 1 << 16;

/// High numbers, so that the program's own files get the numbers that they would get anyway.
constexpr int kLowestDescriptor = 200;

Problem read_file(const std::string& path, std::string* text) {
    FILE* file = fopen(path.c_str(), "re");
    if (file == nullptr) return {"events file " + path, strerror(errno), "check the path"};
    char block[4096];
    for (size_t got; (got = fread(block, 1, sizeof block, file)) != 0 && text->size() <= kLargestFile;) text->append(block, got);
    const bool failed = ferror(file) != 0;
    const int error = errno;
    fclose(file);
    if (failed) return {"events file " + path, strerror(error), "name a text file"};
    if (text->size() > kLargestFile) return {"events file " + path, "more than 64KB", "name a file with one event a line"};
    return {};
}

/// The first of `count` numbers that no open file of this process has; -1 if there are none.
int free_descriptors(int count) {
    int first = kLowestDescriptor;
    for (int i = 0; i < count;) {
        if (first + count > 1 << 16) return -1;
        if (fcntl(first + i, F_GETFD) == -1) {
            ++i;
        } else {
            first += i + 1;
            i = 0;
        }
    }
    return first;
}

}  // namespace

bool parse_kind(const std::string& word, Kind* kind) {
    *kind = word == "program" ? Kind::program : word == "whole" ? Kind::whole : Kind::roi;
    return word == "roi" || word == "program" || word == "whole";
}

Counting::~Counting() {
    for (const int file : {socket_[0], socket_[1], page_file_})
        if (file >= 0) close(file);
    for (const int file : descriptors_) close(file);
    if (page_ != nullptr) munmap(page_, sizeof(RegionPage));
}

Problem Counting::prepare() {
    std::string text, error;
    if (Problem problem = read_file(events_file_, &text)) return problem;
    if (!parse_events(text, &events_, &error)) return {"events file " + events_file_, error, kReadMore};
    if (Problem problem = prepare_file(counts_file_)) return problem;
    const Problem no_files = {"counters", "no free descriptors", "raise the limit of open files: ulimit -n"};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socket_) != 0) return no_files;
    page_file_ = memfd_create("tessera-roi", MFD_CLOEXEC);
    if (page_file_ < 0 || ftruncate(page_file_, sizeof(RegionPage)) != 0) return no_files;
    void* at = mmap(nullptr, sizeof(RegionPage), PROT_READ | PROT_WRITE, MAP_SHARED, page_file_, 0);
    if (at == MAP_FAILED) return no_files;
    page_ = static_cast<RegionPage*>(at);
    *page_ = {};
    page_->magic = kRegionMagic;
    first_ = free_descriptors(1 + controlled(events_));
    return first_ < 0 ? no_files : Problem();
}

std::vector<std::string> Counting::variables() const {
    if (!needs_hook()) return {};
    return {std::string(kRegionVariable) + "=" + (kind_ == Kind::roi ? "roi" : "program") + "," + std::to_string(first_) + "," +
            std::to_string(first_ + 1) + "," + std::to_string(controlled(events_))};
}

bool Counting::open() const {
    if (needs_hook() && dup2(page_file_, first_) != first_) return false;
    return open_and_send(events_, !needs_hook(), first_ + 1, socket_[1]);
}

void Counting::about_to_start() const {
    if (!needs_hook()) page_->begin_ns = now_ns();
}

Problem Counting::connect() {
    close(socket_[1]);  // so that the end of the program's process is seen
    socket_[1] = -1;
    return receive(events_, socket_[0], &descriptors_);
}

void Counting::at_exit(bool is_target) {
    if (kind_ == Kind::roi || (kind_ == Kind::program && !is_target)) return;
    // A starter may end after the program or before it: the last one counts.
    exit_seen_ = true;
    counts_ = read_counts(descriptors_);
    region_ns_ = now_ns() - page_->begin_ns;
}

Problem Counting::finish() {
    if (!exit_seen_) {  // of a region of interest; or SIGKILL left nothing to stop
        counts_ = read_counts(descriptors_);
        region_ns_ = kind_ == Kind::roi ? page_->region_ns : now_ns() - page_->begin_ns;
    }
    if (Problem problem = check_region()) return problem;
    return check_counts(events_, counts_);
}

Problem Counting::check_region() const {
    if (kind_ == Kind::whole) return {};
    const RegionPage& page = *page_;
    const bool roi = kind_ == Kind::roi;
    const std::string asked = roi ? "region roi" : "region program", use_whole = "; or count the whole program: region whole";
    if (page.loaded == 0)
        return {
            asked, "libtessera-roi.so was not loaded by the program",
            "use a dynamically linked program without set-user-ID, and keep LD_PRELOAD and " + std::string(kRegionVariable) + use_whole};
    if (page.patch_errno != 0)
        return {asked, std::string("a marker can't be replaced: ") + strerror(page.patch_errno),
                "run without a policy that forbids writable code (SELinux execmod)" + use_whole};
    if (roi && page.begin_markers == 0)
        return {asked, "the program has no begin marker", "call TESSERA_ROI_BEGIN() and TESSERA_ROI_END() of roi.h" + use_whole};
    if (page.begun == 0)
        return {asked, roi ? "the program never reached its begin marker" : "libmosalloc did not start in the program",
                (roi ? "check its arguments" : "use mosalloc-run, and see its own message") + use_whole};
    if (page.nested != 0)
        return {asked, "a region began inside another one", "end each region before the next begins, in all threads and processes"};
    if (page.stray != 0) return {asked, "a region ended that had not begun", "call TESSERA_ROI_BEGIN() first, once for each end"};
    if (roi && page.open != kClosed) return {asked, "the program ended inside the region", "call TESSERA_ROI_END() before it exits"};
    if (page.control_errno != 0)
        return {asked, std::string("the program could not switch its counters: ") + strerror(page.control_errno),
                "let it keep descriptors from " + std::to_string(first_) + " on open" + use_whole};
    return {};
}

}  // namespace tessera::counters
