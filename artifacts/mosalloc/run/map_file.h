// map_file.h - the pool map file, through which the launcher sees libmosalloc's pools.
#pragma once

#include <string>

#include "mosalloc/pool_map.h"

namespace mosalloc::run {

/// `path` without symbolic links, or as it is if it does not exist.
std::string absolute(const std::string& path);

/// A temporary file has the launcher's pid in its name and a lock (flock). A later launcher deletes files of this user
/// whose launcher was killed: no such process, and no lock.
/// The pool map: in the file that MOSALLOC_POOL_MAP names, else in a temporary file.
class MapFile {
public:
    MapFile();
    ~MapFile();
    MapFile(const MapFile&) = delete;
    MapFile& operator=(const MapFile&) = delete;
    std::string path() const { return absolute(path_); }
    /// Null if the file could not be made; errno says why.
    const mosalloc_pool_map* get() const { return map_; }

private:
    bool keep_ = false;
    int lock_ = -1;  ///< holds the file's lock as long as this launcher lives
    std::string path_;
    const mosalloc_pool_map* map_ = nullptr;
};

}  // namespace mosalloc::run
