// What the Swift module of the C library does not have of clocks.
#ifndef SAKER_CCLOCK_SHIM_H
#define SAKER_CCLOCK_SHIM_H

#include <sys/timex.h>

// adjtimex(2): 1 when a program keeps the kernel's clock and says that it is right, otherwise 0. Needs no privilege.
static inline int saker_kernel_clock_is_kept(void) {
    struct timex query = {0};
    int state = adjtimex(&query);
    return state >= 0 && state != TIME_ERROR;
}

#endif
