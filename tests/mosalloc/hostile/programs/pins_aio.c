/* pins_aio FILE PAGES: reads of 1MB with O_DIRECT are in flight by Linux AIO, one in each huge page, while another part
 * of each of these pages gets a guard page. */
#include <linux/aio_abi.h>

#include "hostile.h"

enum { MOST = 64 };

int main(int count, char** words) {
    REQUIRE(count == 3);
    watch(60);
    const size_t pages = strtoul(words[2], NULL, 10);
    REQUIRE(pages <= MOST);
    const int file = make_file(words[1], pages * MB, 1, O_DIRECT);
    char* block = huge_blocks(pages);
    aio_context_t context = 0;
    REQUIRE(syscall(SYS_io_setup, MOST, &context) == 0);
    struct iocb reads[MOST] = {0}, *list[MOST];
    for (size_t i = 0; i < pages; ++i) {
        reads[i].aio_lio_opcode = IOCB_CMD_PREAD;
        reads[i].aio_fildes = (uint32_t)file;
        reads[i].aio_buf = (uint64_t)(block + i * HUGE + MB);
        reads[i].aio_nbytes = MB;
        reads[i].aio_offset = (int64_t)(i * MB);
        list[i] = &reads[i];
    }
    REQUIRE(syscall(SYS_io_submit, context, (long)pages, list) == (long)pages);
    for (size_t i = pages; i-- > 0;) REQUIRE(mprotect(block + i * HUGE, PAGE, PROT_NONE) == 0);
    struct io_event events[MOST];
    size_t done = 0;
    while (done < pages) {
        const long got = syscall(SYS_io_getevents, context, 1, MOST, events, NULL);
        REQUIRE(got > 0);
        for (long i = 0; i < got; ++i) REQUIRE(events[i].res == MB);
        done += (size_t)got;
    }
    for (size_t i = 0; i < pages; ++i) require_content("read", block + i * HUGE + MB, MB, i * MB, 1);
    puts("right");
    return 0;
}
