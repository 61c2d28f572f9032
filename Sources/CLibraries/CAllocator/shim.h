// The allocator's own calls, which the Swift module of the C library leaves out.
#ifndef SAKER_CALLOCATOR_SHIM_H
#define SAKER_CALLOCATOR_SHIM_H

#include <malloc.h>

#endif
