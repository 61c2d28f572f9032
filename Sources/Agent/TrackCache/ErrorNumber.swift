internal import Glibc

let interruptedErrno = EINTR
let inputOutputErrno = EIO
let wouldBlockErrno = EWOULDBLOCK
let noEntryErrno = ENOENT
let busyErrno = EBUSY
let noSpaceErrno = ENOSPC
/// What says that a name stands for something else than a file: a link, a directory, a pipe.
let notAFileErrnos: Set<Int32> = [ELOOP, EISDIR, EINVAL]

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
    case ENAMETOOLONG: "ENAMETOOLONG (the path is too long)"
    case ELOOP: "ELOOP (a symbolic link is in the way)"
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
