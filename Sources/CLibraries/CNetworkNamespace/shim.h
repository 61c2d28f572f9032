// Linux calls that the Swift module of the C library does not have: network namespaces and TUN devices.
#ifndef SAKER_CNETWORKNAMESPACE_SHIM_H
#define SAKER_CNETWORKNAMESPACE_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <linux/if_tun.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// unshare(2) with CLONE_NEWNET: the calling thread gets a network of its own. 0, or -1 with errno.
static inline int saker_namespace_new(void) { return (int)syscall(SYS_unshare, CLONE_NEWNET); }

// The calling thread's network namespace as a descriptor, or -1 with errno.
static inline int saker_namespace_open(void) {
    return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
}

// setns(2): moves the calling thread, and everything it starts, to a network namespace. 0, or -1 with errno.
static inline int saker_namespace_enter(int descriptor) {
    return (int)syscall(SYS_setns, descriptor, CLONE_NEWNET);
}

// Brings the calling thread's loopback interface up. 0, or -1 with errno.
static inline int saker_loopback_up(void) {
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP;
    int result = ioctl(descriptor, SIOCSIFFLAGS, &request);
    int error = errno;
    close(descriptor);
    errno = error;
    return result;
}

// Makes a TUN device in the calling thread's network namespace. Each read or write is one packet without a header. The
// device disappears with its descriptor. The descriptor, or -1 with errno.
static inline int saker_tunnel_open(const char *name) {
    int descriptor = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return -1;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (ioctl(descriptor, TUNSETIFF, &request) < 0) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

#endif
