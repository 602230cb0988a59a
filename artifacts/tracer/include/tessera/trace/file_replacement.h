// file_replacement.h - writes a file under a temporary name and renames it when it is complete.
#pragma once

#include <string>

namespace tessera::trace {

/// A new empty file beside `target`, with a unique name. commit() renames it to `target` and replaces an old file there, and
/// returns when the bytes and the name are on the disk.
/// Without commit(), the new file is deleted and `target` stays unchanged.
class FileReplacement {
public:
    /// Throws TraceError if `target` exists and is not a regular file (replacing a device would remove it), or if no file can
    /// be created beside it. Follows a link: the file is replaced, the link stays.
    explicit FileReplacement(const std::string& target);
    ~FileReplacement();
    FileReplacement(const FileReplacement&) = delete;
    FileReplacement& operator=(const FileReplacement&) = delete;

    const std::string& path() const { return path_; }  ///< of the new file; ends in ".partial"
    void commit();                                     ///< throws TraceError

private:
    std::string target_, path_;
    bool committed_ = false;
};

}  // namespace tessera::trace
