// Calls that the Swift module of the C library does not have.
#ifndef SAKER_CLINUX_SHIM_H
#define SAKER_CLINUX_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

// adjtimex(2): 1 when a program keeps the kernel's clock and says that it is right, otherwise 0. Needs no privilege.
static inline int saker_clock_is_synchronised(void) {
    struct timex query = {0};
    int state = adjtimex(&query);
    return state >= 0 && state != TIME_ERROR;
}

// rtnetlink(7): a socket that receives changes of links, addresses and routes; never blocks. A negative error number on
// failure.
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

// Watches a directory for files that are written, replaced, removed or become readable. Repeated calls change nothing.
static inline int saker_file_watch_directory(int descriptor, const char *path) {
    unsigned int events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB | IN_ONLYDIR;
    return inotify_add_watch(descriptor, path, events) < 0 ? -errno : 0;
}

// Extensions of the GNU C library. Its header declares them only for programs that ask for all extensions.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);

// pipe(2) above the standard descriptors, closed in children. 0, or -1 with errno.
static inline int saker_pipe(int ends[2]) {
    int made[2];
    if (pipe(made) != 0) return -1;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(made[i], F_DUPFD_CLOEXEC, 3);
        close(made[i]);
    }
    if (ends[0] >= 0 && ends[1] >= 0) return 0;
    int error = errno;
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) close(ends[i]);
    }
    errno = error;
    return -1;
}

// posix_spawn(3): starts a program in a process group of its own, in the root directory, with default signals. Only its
// standard input, output and error are open. Returns the process, or a negative error number.
static inline int saker_spawn(const char *path, char *const environment[], int input, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return -error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return -error;
    }
    char *const arguments[] = {(char *)path, 0};
    pid_t process = 0;
    if (!error) error = posix_spawnattr_setpgroup(&attributes, 0);
    if (!error) error = posix_spawnattr_setsigmask(&attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!error)
        error = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, input, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, output, 2);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (!error) error = posix_spawn_file_actions_addchdir_np(&actions, "/");
    if (!error) error = posix_spawn(&process, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error ? -error : process;
}

// pidfd_open(2): a descriptor that becomes readable when the process ends. Negative when the kernel has none or forbids it.
static inline int saker_pidfd(int process) {
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, process, 0);
#else
    return -1;
#endif
}

// waitid(2): 1 when the child has ended, otherwise 0. Does not reap the child, so its number stays reserved.
static inline int saker_child_ended(int process) {
    siginfo_t info = {0};
    int result;
    do {
        result = waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT);
    } while (result != 0 && errno == EINTR);
    return result != 0 || info.si_pid != 0;
}

// waitpid(2): the exit status of a child that has ended, or its signal, which is 0 otherwise.
static inline int saker_reap(int process, int *signal) {
    int status = 0;
    pid_t result;
    do {
        result = waitpid(process, &status, 0);
    } while (result < 0 && errno == EINTR);
    *signal = 0;
    if (result < 0) return 255;
    if (WIFSIGNALED(status)) *signal = WTERMSIG(status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

#endif
