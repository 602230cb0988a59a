// children.h - what all kinds of child processes have in common: a pipe for the answer, and one at a time.
#pragma once

#include "life.h"

namespace lives {

/// A child that is started now. Its destructor ends what the parent holds for it.
class Child {
public:
    /// Waits until no other thread of this process has one: the number of huge pages that children need is limited.
    explicit Child(Self& s);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// In the child.
    void answer(const Answer& answer) const;
    int answer_descriptor() const { return pipe_[1]; }
    /// In the parent: waits for the end and logs how it ended.
    void collect(const char* what, pid_t pid);
    /// In the parent, for a child that runs beside it: the descriptor to collect later.
    int keep();

private:
    Self& s_;
    int pipe_[2];
};

void collect(Self& s, const char* what, pid_t pid, int answer);
/// In a forked child: only this thread exists, and it has no ring, no timer and no children.
void become_child(Self& s);

}  // namespace lives
