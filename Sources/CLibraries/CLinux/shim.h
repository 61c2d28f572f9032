// What the Swift module of the C library leaves out.
#ifndef SAKER_CLINUX_SHIM_H
#define SAKER_CLINUX_SHIM_H

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <unistd.h>

// adjtimex(2): 1 when the kernel's clock is kept by somebody who says it is right, else 0. Reading needs no privilege.
static inline int saker_clock_is_synchronised(void) {
    struct timex query = {0};
    int state = adjtimex(&query);
    return state >= 0 && state != TIME_ERROR;
}

// rtnetlink(7): a socket that hears of links, addresses and routes; never blocks. A negative error number on failure.
static inline int saker_network_socket(void) {
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE,
    };
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -errno;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        close(descriptor);
        return -error;
    }
    return descriptor;
}

// inotify(7): an instance that never blocks. A negative error number on failure.
static inline int saker_file_watch(void) {
    int descriptor = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

// Tells of files in a directory that were written, replaced, removed or became readable. Asking again changes nothing.
static inline int saker_file_watch_directory(int descriptor, const char *path) {
    unsigned int events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB | IN_ONLYDIR;
    return inotify_add_watch(descriptor, path, events) < 0 ? -errno : 0;
}

#endif
