internal import Glibc

let interruptedErrno = EINTR
let inputOutputErrno = EIO
let wouldBlockErrno = EWOULDBLOCK
let noEntryErrno = ENOENT
let busyErrno = EBUSY
/// What says that the configured path can never be a directory of ours, whatever the disk does.
let hopelessPathErrnos: Set<Int32> = [ENOTDIR, ENAMETOOLONG, ELOOP]

/// The symbol operators search for, and what it means for the disk, in one phrase.
func errnoText(_ number: Int32) -> String {
    switch number {
    case ENOSPC: "ENOSPC (no space left on the disk)"
    case EDQUOT: "EDQUOT (the disk quota is used up)"
    case EROFS: "EROFS (the file system is read-only)"
    case EIO: "EIO (the disk reports an error)"
    case EACCES: "EACCES (permission denied)"
    case EPERM: "EPERM (operation not permitted)"
    case ENOENT: "ENOENT (it does not exist)"
    case ENOTDIR: "ENOTDIR (part of the path is not a directory)"
    case ENODEV: "ENODEV (the device is gone)"
    case ENXIO: "ENXIO (the device is gone)"
    case EMFILE: "EMFILE (too many open files)"
    case ENFILE: "ENFILE (too many open files on this machine)"
    case EWOULDBLOCK: "EWOULDBLOCK (another agent holds it)"
    case EBUSY: "EBUSY (what was sent is not acknowledged yet)"
    default: "errno \(number)"
    }
}

var processIdentifier: Int32 { getpid() }
