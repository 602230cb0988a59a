#include "vm/fault_file.h"

#include "file/readahead.h"
#include "vm/cow.h"
#include "vm/swap_in.h"

struct attempt {
    struct process *process;
    struct file *file;
    const struct area *area;
    uint64_t page, index;            // of the fault; index in the file
    uint32_t cpu;
    bool tried;                      // it waited for the disk once (FAULT_FLAG_TRIED)
    const pt_entry *slot;            // of level 1
    uint32_t table;                  // a frame for the table, not used yet; PHYS_NO_FRAME: none
    struct fault *fault;
};

enum step { STEP_DONE, STEP_RETRY, STEP_FOUND };

static struct file_cache *files(const struct attempt *attempt) { return &attempt->process->system->files; }

/// A frame for the table of level 0, if there is neither. False: no memory.
static bool prepare_table(struct attempt *attempt) {
    enum phys_outcome outcome;
    if (*attempt->slot != 0 || attempt->table != PHYS_NO_FRAME) return true;
    attempt->table = pt_take_frame(&attempt->process->pt, attempt->cpu, &outcome);
    if (attempt->table == PHYS_NO_FRAME) fault_needs(attempt->fault, outcome, 0);
    return attempt->table != PHYS_NO_FRAME;
}

static void install_table(struct attempt *attempt) {
    if (*attempt->slot != 0) return;
    struct pt *pt = &attempt->process->pt;
    pt_write(pt, attempt->slot, attempt->page, 1, pt_to_table(pt_new_table(attempt->table)), PT_BY_TABLE);
    ++pt->tables[0];
    attempt->fault->tables.frame[attempt->fault->tables.count++] = attempt->table;
    attempt->table = PHYS_NO_FRAME;
}

static void map_page(struct attempt *attempt, uint64_t page, uint32_t frame, unsigned bits) {
    struct process *process = attempt->process;
    pt_write(&process->pt, &pt_below(*attempt->slot)->slot[pt_index(page, 0)], page, 0,
             pt_make(frame, PT_PRESENT | PT_YOUNG | PT_FILE | bits), page == attempt->page ? PT_BY_FAULT : PT_BY_AROUND);
    rmap_add(&process->system->lru.rmap, frame, process_place(process, page));
    ++process->file_pages;
}

/// filemap_map_pages: indices [first, last].
static bool map_around(struct attempt *attempt, uint64_t first, uint64_t last) {
    struct file_cache *cache = files(attempt);
    struct file_ra *ra = &attempt->file->ra;
    const uint64_t start = first;
    uint32_t hits = 0, count = 0;
    bool found = false, done = false;
    if (file_pages(attempt->file) == 0) return false;
    if (last >= file_pages(attempt->file)) last = file_pages(attempt->file) - 1;
    for (uint64_t index = first; index <= last; ++index) {
        const uint32_t frame = file_frame(attempt->file, index);
        if (frame == PHYS_NO_FRAME) continue;
        const uint32_t folio = file_folio(cache, frame);
        if (lru_has(cache->lru, folio, LRU_LOCKED | LRU_RECLAIM)) continue;
        found = true;
        install_table(attempt);
        hits += !lru_has(cache->lru, folio, LRU_WORKINGSET);
        const uint64_t page = attempt->page + (index - attempt->index);
        if (pt_below(*attempt->slot)->slot[pt_index(page, 0)] != 0) continue;
        map_page(attempt, page, frame, 0);
        done |= index == attempt->index;
        ++count;
    }
    ra->mmap_miss = hits >= ra->mmap_miss ? 0 : ra->mmap_miss - hits;
    if (found)
        file_report(
            cache,
            (struct file_event){
                .kind = FILE_AROUND, .file = attempt->file->number, .index = start, .pages = (uint32_t)(last - start + 1), .more = count});
    attempt->fault->around += count;
    return done;
}

/// do_fault_around. False: the fault goes on.
static bool around(struct attempt *attempt) {
    const uint64_t slot = pt_index(attempt->page, 0), in_area = attempt->page - attempt->area->start;
    const uint64_t aligned = slot & ~(uint64_t)(FAULT_AROUND_PAGES - 1), lowest = slot - (slot < in_area ? slot : in_area);
    const uint64_t from = aligned > lowest ? aligned : lowest, left = slot + (attempt->area->end - attempt->page);
    uint64_t to = from + FAULT_AROUND_PAGES;
    if (to > PT_SLOTS) to = PT_SLOTS;
    if (to > left) to = left;
    return map_around(attempt, attempt->index - (slot - from), attempt->index + (to - 1) - slot);
}

/// Neither readahead nor anybody else brought the page: it is read alone.
static enum step read_alone(struct attempt *attempt, bool restarts, uint32_t *frame) {
    struct file_cache *cache = files(attempt);
    enum phys_outcome outcome;
    if (file_add(cache, attempt->file, attempt->index, 0, LRU_LOCKED, false, attempt->cpu, frame, &outcome) != FILE_ADDED) {
        if (restarts) return STEP_RETRY;
        fault_needs(attempt->fault, outcome, 0);
        return STEP_DONE;
    }
    file_ask_disk(cache, attempt->file, attempt->index, 1);
    return attempt->tried ? STEP_FOUND : STEP_RETRY;
}

/// filemap_fault.
static enum step find(struct attempt *attempt, uint32_t *frame) {
    struct vm_system *system = attempt->process->system;
    struct file_cache *cache = files(attempt);
    if (attempt->index >= file_pages(attempt->file)) {
        attempt->fault->kind = FAULT_BUS;
        return STEP_DONE;
    }
    *frame = file_frame(attempt->file, attempt->index);
    if (*frame != PHYS_NO_FRAME) {
        if (attempt->tried) return STEP_FOUND;
        const uint32_t folio = file_folio(cache, *frame);
        return file_mmap_readahead_more(cache, attempt->file, folio, attempt->index, attempt->cpu) ? STEP_RETRY : STEP_FOUND;
    }
    attempt->fault->major = true;
    ++system->counts.pgmajfault;
    const bool huge_advice = attempt->area->flags & AREA_HUGEPAGE;
    const bool restarts = file_mmap_readahead(cache, attempt->file, attempt->index, huge_advice, attempt->cpu) && !attempt->tried;
    *frame = file_frame(attempt->file, attempt->index);
    const enum step step = *frame == PHYS_NO_FRAME ? read_alone(attempt, restarts, frame) : restarts ? STEP_RETRY : STEP_FOUND;
    if (step != STEP_DONE) file_io_done(cache);        // the fault waits for the page
    if (step == STEP_RETRY) attempt->tried = true;
    return step;
}

static enum step read_fault(struct attempt *attempt) {
    uint32_t frame;
    if (!prepare_table(attempt)) return STEP_DONE;
    attempt->fault->kind = FAULT_FILE;
    if (around(attempt)) return STEP_DONE;
    const enum step step = find(attempt, &frame);
    if (step != STEP_FOUND) return step;
    install_table(attempt);
    map_page(attempt, attempt->page, frame, 0);
    return STEP_DONE;
}

static enum step shared_fault(struct attempt *attempt) {
    uint32_t frame;
    if (!prepare_table(attempt)) return STEP_DONE;
    attempt->fault->kind = FAULT_FILE;
    const enum step step = find(attempt, &frame);
    if (step != STEP_FOUND) return step;
    install_table(attempt);
    map_page(attempt, attempt->page, frame, PT_WRITE | PT_DIRTY);
    lru_set(files(attempt)->lru, file_folio(files(attempt), frame), LRU_DIRTY);
    return STEP_DONE;
}

static enum step cow_fault(struct attempt *attempt, size_t area) {
    struct process *process = attempt->process;
    struct vm_system *system = process->system;
    const struct phys_request request = vm_request(process, attempt->page, 0, PHYS_MOVABLE, attempt->cpu);
    uint32_t frame;
    areas_need_anon(&process->areas, area);
    const struct phys_result copy = vm_obtain(system, &request);
    if (copy.outcome != PHYS_GOT_FRAMES) {
        fault_needs(attempt->fault, copy.outcome, 0);
        return STEP_DONE;
    }
    attempt->fault->kind = FAULT_COPY;
    const enum step step = prepare_table(attempt) ? find(attempt, &frame) : STEP_DONE;
    if (step != STEP_FOUND) {
        vm_free(system, copy.frame, 0, attempt->cpu);
        return step;
    }
    install_table(attempt);
    pt_write(&process->pt, &pt_below(*attempt->slot)->slot[pt_index(attempt->page, 0)], attempt->page, 0,
             pt_make(copy.frame, PT_PRESENT | PT_WRITE | PT_YOUNG | PT_DIRTY), PT_BY_FAULT);
    ++process->anonymous_pages;
    attempt->fault->frame = copy.frame;
    attempt->fault->from = frame;
    attempt->fault->lru_drained = vm_lru_add(system, copy.frame, process_place(process, attempt->page), attempt->cpu);
    return STEP_DONE;
}

static void missing(struct attempt *attempt, size_t area, bool write) {
    enum step step = STEP_RETRY;
    while (step == STEP_RETRY) {
        step = !write ? read_fault(attempt) : attempt->area->flags & AREA_SHARED ? shared_fault(attempt) : cow_fault(attempt, area);
        if (attempt->table != PHYS_NO_FRAME) vm_free(attempt->process->system, attempt->table, 0, attempt->cpu);
        attempt->table = PHYS_NO_FRAME;
    }
    file_io_done(files(attempt));
}

void fault_file(struct process *process, struct file *file, size_t index, uint64_t page, bool write, uint32_t cpu, struct pt_table *table,
                struct fault *fault) {
    const struct area *area = &process->areas.item[index];
    struct attempt attempt = {.process = process,
                              .file = file,
                              .area = area,
                              .page = page,
                              .cpu = cpu,
                              .fault = fault,
                              .index = area->offset + (page - area->start),
                              .slot = &table->slot[pt_index(page, 1)],
                              .table = PHYS_NO_FRAME};
    const pt_entry *entry = *attempt.slot == 0 ? NULL : &pt_below(*attempt.slot)->slot[pt_index(page, 0)];
    if (entry && *entry & PT_SWAP) {
        swap_in(process, &process->areas.item[index], page, write, cpu, entry, fault);
        if (write && pt_present(*entry) && !(*entry & PT_WRITE)) cow_write(process, index, page, entry, cpu, fault);
    } else if (entry && *entry != 0) {
        cow_write(process, index, page, entry, cpu, fault);
    } else {
        missing(&attempt, index, write);
        if (fault->kind == FAULT_FILE) fault->frame = pt_value(pt_below(*attempt.slot)->slot[pt_index(page, 0)]);
    }
}
