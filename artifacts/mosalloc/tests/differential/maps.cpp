#include "maps.h"

#include <pthread.h>

namespace differential {
namespace {

// Writers have priority, or they would wait for ever.
constexpr pthread_rwlock_t kFree = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
pthread_rwlock_t g_maps = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

thread_local volatile bool t_may_map = false;  // a handler cannot take the lock, so the thread notes that it has it

}  // namespace

Maps::Maps(const Thread& t, Use use) : locked_(!t.alone) {
    if (locked_ && use == alone) pthread_rwlock_wrlock(&g_maps);
    if (locked_ && use == shared) pthread_rwlock_rdlock(&g_maps);
    t_may_map = use == shared;
}

Maps::~Maps() {
    t_may_map = false;
    if (locked_) pthread_rwlock_unlock(&g_maps);
}

void Maps::reset() {
    g_maps = kFree;
    t_may_map = false;
}

bool handler_may_map() { return t_may_map; }

}  // namespace differential
