// vm_show.h - what a process maps, for the event `pages` of tessera-vm.
#pragma once

#include <stdio.h>

#include "vm/process.h"

/// The sink of an imitated memory that prints to `out`: ranges that khugepaged looked at; with `decisions` and `changes` what these options of
/// tessera-vm name.
struct events vm_show_events(FILE *out, bool decisions, bool changes);

/// A line for each run of pages in [page, page + pages): `pages ADDR frame=F count=N`, frames ascending by one; the same with `slot=S` for
/// swapped pages; `pages ADDR zero count=N`. Nothing for pages that have no entry. A page of 2MB counts 512.
void vm_show_pages(const struct process *process, uint64_t page, uint64_t pages, FILE *out);
