// gap_file.cpp - see gap_file.h.
#include "common/gap_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/error.h"

namespace tessera::workloads {
namespace {

constexpr uint64_t kHeaderBytes = 1 + 2 * sizeof(int64_t);
const char* const kMakeAgain = "create it again with the converter of GAPBS, see docs/howto/datasets.md";

[[noreturn]] void refuse(const std::string& path, const std::string& found) { throw Error("graph file " + path, found, kMakeAgain); }

int64_t int64_at(const unsigned char* at) {
    int64_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

}  // namespace

GapFileEdges::GapFileEdges(const std::string& path) {
    if (path.ends_with(".wsg")) entry_bytes_ = 8;
    else if (!path.ends_with(".sg"))
        throw Error("graph file " + path, "its name ends neither in .sg nor in .wsg", "give a graph file from the converter of GAPBS");
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        throw Error("graph file " + path, std::strerror(errno),
                    "see `tessera datasets list` for the available graphs, or "
                    "use a synthetic graph (--graph kronecker, uniform, road, web)");
    struct stat status;
    const bool sized = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    const uint64_t bytes = sized ? static_cast<uint64_t>(status.st_size) : 0;
    if (bytes < kHeaderBytes) {
        close(file);
        refuse(path, "it has " + std::to_string(bytes) + " bytes, fewer than the header's 17");
    }
    void* start = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    const int problem = errno;
    close(file);
    if (start == MAP_FAILED) throw Error("graph file " + path, std::strerror(problem), "free memory, or use a machine with more");
    start_ = {static_cast<const unsigned char*>(start),
              [bytes](const unsigned char* mapping) { munmap(const_cast<unsigned char*>(mapping), bytes); }};
    check(path, bytes);
}

void GapFileEdges::check(const std::string& path, uint64_t bytes) {
    const unsigned char* start = start_.get();
    const unsigned directed = start[0];
    const int64_t arcs = int64_at(start + 1), vertices = int64_at(start + 9);
    if (directed > 1) refuse(path, "its first byte, 'directed', is " + std::to_string(directed) + ", not 0 or 1");
    if (vertices < 1 || vertices > INT32_MAX)
        refuse(path, "it claims " + std::to_string(vertices) + " vertices, but must have 1 to 2147483647");
    if (arcs < 0 || static_cast<uint64_t>(arcs) > bytes / entry_bytes_)
        refuse(path, "it claims " + std::to_string(arcs) + " arcs, more than fit in its bytes");
    vertices_ = static_cast<uint64_t>(vertices);
    arcs_ = static_cast<uint64_t>(arcs);
    const uint64_t side = (vertices_ + 1) * sizeof(int64_t) + arcs_ * entry_bytes_;
    const uint64_t expected = kHeaderBytes + side * (directed == 1 ? 2 : 1);
    if (bytes != expected)
        refuse(path, "it has " + std::to_string(bytes) + " bytes, but " + std::to_string(vertices_) + " vertices and " +
                         std::to_string(arcs_) + " arcs take " + std::to_string(expected));
    offsets_ = start + kHeaderBytes;
    ends_ = offsets_ + (vertices_ + 1) * sizeof(int64_t);
    if (offset(0) != 0 || offset(vertices_) != arcs_) refuse(path, "its offsets do not run from 0 to the number of arcs");
    for (uint64_t v = 0; v < vertices_; ++v)
        if (offset(v) > offset(v + 1)) refuse(path, "the offsets decrease at vertex " + std::to_string(v));
    for (uint64_t k = 0; k < arcs_; ++k) {
        if (end(k) < 0 || end(k) >= vertices)
            refuse(path, "arc " + std::to_string(k) + " ends at vertex " + std::to_string(end(k)) + ", which does not exist");
        if (weighted() && (weight(k) < 1 || weight(k) > INT32_MAX / 2))
            refuse(path, "arc " + std::to_string(k) + " has weight " + std::to_string(weight(k)) + ", but must have 1 to 1073741823");
    }
}

}  // namespace tessera::workloads
