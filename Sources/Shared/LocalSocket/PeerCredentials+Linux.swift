internal import Glibc
package import NIOCore

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
