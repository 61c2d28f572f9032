internal import Glibc
internal import NIOCore
internal import NIOPosix

/// The file of a listening socket. The file is made beside its place, gets its owner and its mode there, and is then moved
/// to its place in one step.
struct SocketFile: Hashable, Sendable {
    private let place: LocalSocket.Place
    private var path: String { place.path }
    /// Device and number of the file, so that the file of another process is never removed.
    private var device: UInt64 = 0
    private var node: UInt64 = 0

    init(_ place: LocalSocket.Place) {
        self.place = place
    }

    private var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Where the socket is bound before it is moved to `path`.
    var temporaryPath: String {
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        return "\(directory)/.\(name).\(getpid())"
    }

    /// Makes the directory when it is missing, and fails when the place is not free. A socket that nobody answers on is
    /// left by a process that died; that place is free.
    func prepare(on loop: any EventLoop) -> EventLoopFuture<Void> {
        // Linux keeps 108 bytes, the last for NUL.
        guard temporaryPath.utf8.count <= 107 else {
            return loop.makeFailedFuture(
                LocalSocketError(
                    .pathTooLong, "the socket path \(path) is too long for the system: use one of at most 90 bytes"))
        }
        if mkdir(directory, 0o755) != 0, errno != EEXIST {
            return loop.makeFailedFuture(LocalSocketError.system("cannot make the directory \(directory)", errno))
        }
        _ = unlink(temporaryPath)
        var status = stat()
        if lstat(path, &status) != 0 {
            let number = errno
            if number == ENOENT { return loop.makeSucceededVoidFuture() }
            return loop.makeFailedFuture(LocalSocketError.system("cannot look at \(path)", number))
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            return loop.makeFailedFuture(
                LocalSocketError(.notASocket, "\(path) exists and is no socket: move it away or choose another path"))
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
                    throw LocalSocketError(
                        .inUse, "somebody answers on \(path) already: stop the other process or choose another path")
                }
            }
    }

    /// Gives the bound socket its owner and mode and moves it to its place.
    mutating func publish() throws(LocalSocketError) {
        let temporary = temporaryPath
        if let group = place.group, chown(temporary, uid_t.max, group) != 0 {
            let number = errno
            _ = unlink(temporary)
            throw .system("cannot give \(path) to group \(group)", number)
        }
        var status = stat()
        guard chmod(temporary, place.mode) == 0, lstat(temporary, &status) == 0, rename(temporary, path) == 0 else {
            let number = errno
            _ = unlink(temporary)
            throw .system("cannot put the socket at \(path)", number)
        }
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
    }

    /// Removes the file unless another took its place.
    func remove() {
        var status = stat()
        guard lstat(path, &status) == 0, UInt64(status.st_dev) == device, UInt64(status.st_ino) == node else { return }
        _ = unlink(path)
    }
}
