// Calls of the allocator that the Swift module of the C library does not have.
#ifndef SAKER_CALLOCATOR_SHIM_H
#define SAKER_CALLOCATOR_SHIM_H

#include <malloc.h>

#endif
