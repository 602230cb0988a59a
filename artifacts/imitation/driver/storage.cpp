#include "driver/storage.h"

#include "driver/refusal.h"

namespace tessera::os {
namespace {

// Places on the disk: files lie far apart, and swap lies behind all of them.
constexpr unsigned file_shift = 47;
constexpr uint64_t file_mask = 0x7fff, swap_place = uint64_t{0xffff} << file_shift;

}  // namespace

Storage::Storage(const std::string &model) {
    error failure{};
    if (!disk_create(&disk_, model.c_str(), &failure)) throw Refusal(failure.asked, failure.found, failure.remedy);
}

Storage::~Storage() { disk_destroy(&disk_); }

void Storage::attach(vm_system &system, bool swap_has_disk) {
    system.files.disk = read_file;
    system.files.disk_context = this;
    if (!swap_has_disk) return;
    system.swap.transfer = transfer;
    system.swap.context = this;
}

void Storage::read_file(void *context, uint32_t file, uint64_t index, uint32_t pages) {
    static_cast<Storage *>(context)->read((file & file_mask) << file_shift | index << 12, uint64_t{pages} << 12);
}

void Storage::transfer(void *context, bool write, uint32_t slot, uint32_t) {
    auto *self = static_cast<Storage *>(context);
    const uint64_t byte = swap_place | uint64_t{slot} << 12;
    if (write) disk_write(&self->disk_, self->now_ns_, byte, PHYS_FRAME_BYTES);
    else self->read(byte, PHYS_FRAME_BYTES);
}

}  // namespace tessera::os
