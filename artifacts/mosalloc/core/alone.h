// alone.h - whether the calling task is the only one that can write to this memory.
//
// Threads are counted by the kernel. Tasks of clone(CLONE_VM) and vfork are processes of their own: the caller's parent and
// children are compared with it (kcmp). Not found: such tasks that are neither, after their parent has ended or
// with CLONE_PARENT; and children on a kernel that does not list them (CONFIG_PROC_CHILDREN).
#pragma once

namespace mosalloc {

/// False also where the kernel does not say: no /proc, or children while kcmp is denied.
bool is_alone();

}  // namespace mosalloc
