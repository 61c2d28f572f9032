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
