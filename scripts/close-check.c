// Loaded into the process of the tests by scripts/test (LD_PRELOAD). A close that answers EBADF ends the process and says where it
// was: by then the number may belong to another file, and the next close like it closes that one.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int (*really_close)(int);
static pid_t own;

__attribute__((constructor)) static void begin(void) {
    really_close = (int (*)(int))dlsym(RTLD_NEXT, "close");
    own = getpid();
    // Programs that tests start are none of this check: what they inherit, they may close.
    unsetenv("LD_PRELOAD");
}

int close(int descriptor) {
    // Another library's constructor may come first.
    if (!really_close) really_close = (int (*)(int))dlsym(RTLD_NEXT, "close");
    int result = really_close(descriptor);
    // A child between its fork and its exec closes whatever there may be.
    if (result == 0 || errno != EBADF || own == 0 || getpid() != own) return result;
    char text[96];
    int length = snprintf(text, sizeof text, "close-check: close(%d) answers EBADF: closed twice, or never open\n", descriptor);
    if (write(STDERR_FILENO, text, (size_t)length) < 0) abort();
    void *frames[48];
    backtrace_symbols_fd(frames, backtrace(frames, 48), STDERR_FILENO);
    abort();
}
