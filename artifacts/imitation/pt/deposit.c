#include "pt/deposit.h"

void pt_deposit(struct pt_deposits *deposits, uint32_t frame) {
    if (deposits->count > 0) deposits->ring[(deposits->first + deposits->count - 1) % PT_SLOTS] = deposits->head;
    deposits->head = frame;
    ++deposits->count;
}

uint32_t pt_withdraw(struct pt_deposits *deposits) {
    const uint32_t frame = deposits->head;
    if (--deposits->count > 0) {
        deposits->head = deposits->ring[deposits->first];
        deposits->first = (deposits->first + 1) % PT_SLOTS;
    }
    return frame;
}
