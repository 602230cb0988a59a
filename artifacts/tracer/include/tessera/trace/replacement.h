// replacement.h - a file that gets its name when it is complete, whoever else writes that name at the same time.
#pragma once

#include <string>

namespace tessera::trace {

/// A new empty file beside `target`, with a name that nobody else has. commit() gives it the target's name, in place of what had
/// it; without commit() nothing is left of it and the target is what it was.
class Replacement {
public:
    /// Throws TraceError where `target` is there and no regular file (replacing a device would remove it), or where no file can be
    /// made beside it. A link to a file is followed: the file is replaced, the link stays.
    explicit Replacement(const std::string& target);
    ~Replacement();
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;

    const std::string& path() const { return path_; }  ///< of the new file; ends in ".partial"
    void commit();                                     ///< throws TraceError

private:
    std::string target_, path_;
    bool committed_ = false;
};

}  // namespace tessera::trace
