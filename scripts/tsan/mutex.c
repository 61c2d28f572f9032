// Lets the thread sanitizer see the locks of Swift's Synchronization.Mutex when threads contend for them.
//
// An uncontended lock and unlock are atomic operations in the code of the caller, which the sanitizer sees. A contended
// one is a call into libswiftSynchronization.so, which is not compiled for the sanitizer, and there the kernel hands the
// lock over (FUTEX_LOCK_PI). The sanitizer sees neither side of this, and calls what the lock protects a data race.
//
// scripts/test-tsan loads this library before all others. Its functions stand before those of
// libswiftSynchronization.so, call them, and tell the sanitizer what they have done: who takes a lock comes after whoever
// gave it back. It hides no race of anything that the lock does not protect.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// In a program that is not compiled for the sanitizer, these are not there.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

// Synchronization._MutexHandle: a method has the address of the handle in the register of Swift's self.
#define METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

METHOD void lock(uint32_t thread, SELF void *handle) __asm__(LOCK);
METHOD bool try_lock(SELF void *handle) __asm__(TRY);
METHOD void unlock(SELF void *handle) __asm__(UNLOCK);

// The function of libswiftSynchronization.so.
static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "tsan/mutex.c: this Swift has no %s\n", name);
        abort();
    }
    return found;
}

METHOD void lock(uint32_t thread, SELF void *handle) {
    METHOD void (*original)(uint32_t, SELF void *) = next(LOCK);
    original(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

METHOD bool try_lock(SELF void *handle) {
    METHOD bool (*original)(SELF void *) = next(TRY);
    bool is_taken = original(handle);
    if (is_taken && __tsan_acquire) __tsan_acquire(handle);
    return is_taken;
}

METHOD void unlock(SELF void *handle) {
    METHOD void (*original)(SELF void *) = next(UNLOCK);
    if (__tsan_release) __tsan_release(handle);
    original(handle);
}
