import Glibc
package import NIOCore
import NIOPosix

/// Why a socket could not be opened.
package struct VarlinkServerError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case pathTooLong, notASocket, inUse, system
    }
    package let code: Code
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail }

    static func system(_ what: String, _ number: CInt) -> Self {
        Self(.system, "\(what): \(String(cString: strerror(number)))")
    }
}

/// The file of a listening socket: made beside its place with the right owner and mode, then moved there at once.
package struct SocketFile: Hashable, Sendable {
    let path: String
    let mode: UInt32
    let group: UInt32?
    /// Which file it is, to remove no other's at the end.
    private(set) var device: UInt64 = 0
    private(set) var node: UInt64 = 0

    package init(path: String, mode: UInt32, group: UInt32?) {
        self.path = path
        self.mode = mode
        self.group = group
    }

    private var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Where the socket is bound before it is moved to `path`.
    package var temporaryPath: String {
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        return "\(directory)/.\(name).\(getpid())"
    }

    /// Makes the directory when it is missing and looks whether the place is free: a socket that nobody answers on is
    /// left by a process that died, and may be replaced.
    package func prepare(on loop: any EventLoop) -> EventLoopFuture<Void> {
        // Linux keeps 108 bytes, the last for NUL.
        guard temporaryPath.utf8.count <= 107 else {
            return loop.makeFailedFuture(
                VarlinkServerError(
                    .pathTooLong, "the socket path \(path) is too long for the system: use one of at most 90 bytes"))
        }
        if mkdir(directory, 0o755) != 0, errno != EEXIST {
            return loop.makeFailedFuture(VarlinkServerError.system("cannot make the directory \(directory)", errno))
        }
        _ = unlink(temporaryPath)
        var status = stat()
        if lstat(path, &status) != 0 {
            let number = errno
            if number == ENOENT { return loop.makeSucceededVoidFuture() }
            return loop.makeFailedFuture(VarlinkServerError.system("cannot look at \(path)", number))
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            return loop.makeFailedFuture(
                VarlinkServerError(.notASocket, "\(path) exists and is no socket: move it away or choose another path"))
        }
        return ClientBootstrap(group: loop).connect(unixDomainSocketPath: path)
            .flatMap { channel in channel.close().map { true } }
            .flatMapErrorThrowing { error in
                guard let error = error as? IOError, [ECONNREFUSED, ENOENT].contains(error.errnoCode) else {
                    return true
                }
                return false
            }
            .flatMapThrowing { [path] isAnswered in
                if isAnswered {
                    throw VarlinkServerError(
                        .inUse, "somebody answers on \(path) already: stop the other process or choose another path")
                }
            }
    }

    /// Gives the bound socket its owner and mode and moves it to its place.
    package mutating func publish() throws(VarlinkServerError) {
        let temporary = temporaryPath
        if let group, chown(temporary, uid_t.max, group) != 0 {
            let number = errno
            _ = unlink(temporary)
            throw .system("cannot give \(path) to group \(group)", number)
        }
        var status = stat()
        guard chmod(temporary, mode) == 0, lstat(temporary, &status) == 0, rename(temporary, path) == 0 else {
            let number = errno
            _ = unlink(temporary)
            throw .system("cannot put the socket at \(path)", number)
        }
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
    }

    /// Removes the file unless another took its place.
    package func remove() {
        var status = stat()
        guard lstat(path, &status) == 0, UInt64(status.st_dev) == device, UInt64(status.st_ino) == node else { return }
        _ = unlink(path)
    }
}
