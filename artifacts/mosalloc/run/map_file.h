// map_file.h - the file in which libmosalloc shows its pools to the launcher.
#pragma once

#include <string>

#include "mosalloc/pool_map.h"

namespace mosalloc::run {

/// `path` without symbolic links, or as it is if it does not exist.
std::string absolute(const std::string& path);

/// The pool map: in the file of MOSALLOC_POOL_MAP if the user wants to see it, else in one that goes away.
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
    std::string path_;
    const mosalloc_pool_map* map_ = nullptr;
};

}  // namespace mosalloc::run
