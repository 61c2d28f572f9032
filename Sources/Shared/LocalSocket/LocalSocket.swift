internal import Glibc
package import NIOCore
package import NIOPosix

/// A Unix socket that a service listens on: a path with an owner and a mode.
package struct LocalSocket: Sendable {
    /// Where the socket is and who may connect.
    package struct Place: Hashable, Sendable {
        /// The path of the socket's file. A missing directory is made.
        package var path: String
        /// The permission bits of the file: whoever may write the file may connect.
        package var mode: UInt32
        /// The group that the file gets; nil leaves it to the process's own group.
        package var group: UInt32?

        package init(path: String, mode: UInt32, group: UInt32? = nil) {
            self.path = path
            self.mode = mode
            self.group = group
        }
    }

    private let listener: any Channel
    private let file: SocketFile

    /// Listens at a place with a bootstrap of the caller's. Fails with ``LocalSocketError``.
    ///
    /// A socket that nobody answers on was left by a process that died, and is replaced. Nobody can connect before the
    /// file has its owner and its mode.
    package static func listen(
        at place: Place, on loop: any EventLoop, bootstrap: @escaping @Sendable () -> ServerBootstrap
    ) -> EventLoopFuture<LocalSocket> {
        let file = SocketFile(place)
        return file.prepare(on: loop).flatMap {
            bootstrap().bind(unixDomainSocketPath: file.temporaryPath)
        }.flatMap { listener in
            var file = file
            do {
                try file.publish()
            } catch {
                return listener.close().flatMapThrowing { throw error }
            }
            return loop.makeSucceededFuture(LocalSocket(listener: listener, file: file))
        }.flatMapErrorThrowing { error in
            guard let error = error as? IOError else { throw error }
            throw LocalSocketError.system("cannot open a socket at \(place.path)", error.errnoCode)
        }
    }

    package var eventLoop: any EventLoop { listener.eventLoop }

    /// Removes the file, unless another process has taken its place, and takes no more connections. Open connections
    /// stay.
    package func close() -> EventLoopFuture<Void> {
        file.remove()
        return listener.close().flatMapError { [listener] _ in listener.eventLoop.makeSucceededVoidFuture() }
    }
}

/// Why a local socket could not be opened.
package struct LocalSocketError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case pathTooLong
        /// A file that is not a socket has the path.
        case notASocket
        /// Another process answers on the path.
        case inUse
        case system
    }

    package let code: Code
    /// A sentence for people.
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

/// Who opened a connection to a local socket, as the kernel recorded it when the connection was made.
package struct PeerCredentials: Hashable, Sendable {
    package let user: UInt32
    package let group: UInt32
    /// Supplementary groups, as far as the kernel tells them.
    package let supplementaryGroups: Set<UInt32>
    /// The process that connected. That process may have ended since, or passed the connection on.
    package let process: Int32

    package init(user: UInt32, group: UInt32, supplementaryGroups: Set<UInt32> = [], process: Int32) {
        self.user = user
        self.group = group
        self.supplementaryGroups = supplementaryGroups
        self.process = process
    }

    package func isMember(of group: UInt32) -> Bool {
        self.group == group || supplementaryGroups.contains(group)
    }
}

extension PeerCredentials {
    /// The kernel's `struct ucred`.
    private struct Credentials {
        var process: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
    }

    /// Asks the kernel who connected `channel`.
    package static func read(of channel: any Channel) -> EventLoopFuture<PeerCredentials> {
        guard let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(LocalSocketError(.system, "the connection is not a socket"))
        }
        let credentials: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(
            level: .socket, name: .init(rawValue: SO_PEERCRED))
        return credentials.flatMap { credentials in
            few(provider).flatMapError { _ in many(provider) }.recover { _ in [] }.map { groups in
                PeerCredentials(
                    user: credentials.user, group: credentials.group, supplementaryGroups: groups,
                    process: credentials.process)
            }
        }
    }

    // The kernel fills in as many groups as there are, and fails when the buffer is too small. The buffer is zeroed before,
    // so group 0 looks like unused space. Group 0 is left out.

    private static func few(_ provider: any SocketOptionProvider) -> EventLoopFuture<Set<UInt32>> {
        let groups: EventLoopFuture<InlineArray<64, UInt32>> = provider.unsafeGetSocketOption(
            level: .socket, name: peerGroups)
        return groups.map { groups in Set(groups.indices.map { groups[$0] }).subtracting([0]) }
    }

    private static func many(_ provider: any SocketOptionProvider) -> EventLoopFuture<Set<UInt32>> {
        let groups: EventLoopFuture<InlineArray<4096, UInt32>> = provider.unsafeGetSocketOption(
            level: .socket, name: peerGroups)
        return groups.map { groups in Set(groups.indices.map { groups[$0] }).subtracting([0]) }
    }

    /// `SO_PEERGROUPS` of Linux 4.13, which the C library's headers do not name everywhere.
    private static let peerGroups = NIOBSDSocket.Option(rawValue: 59)
}
