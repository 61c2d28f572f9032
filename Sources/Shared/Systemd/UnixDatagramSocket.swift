internal import Glibc

/// A Unix datagram socket that sends to a path and never waits.
///
/// Each datagram carries the address, so the socket finds a receiver that was restarted.
@safe final class UnixDatagramSocket: Sendable {
    enum Outcome: Hashable {
        case sent
        /// The receiver is too slow, is gone, or refuses. The datagram is lost.
        case lost(errno: Int32)
        case tooLarge
    }

    private let descriptor: Int32
    private let address: [UInt8]

    /// `path` is a file's path, or `@` and an abstract name. Nil when `path` cannot be an address or the system gives
    /// no socket.
    init?(path: String) {
        guard let address = Self.address(of: path) else { return nil }
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        self.address = address
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Sends one datagram, with a descriptor if `passing` is given; then the datagram may be empty.
    func send(_ bytes: [UInt8], passing file: Int32? = nil) -> Outcome {
        var address = address
        var bytes = bytes
        var control = file.map(Self.control(passing:)) ?? []
        let result = unsafe address.withUnsafeMutableBytes { address in
            unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe control.withUnsafeMutableBytes { control in
                    var piece = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                    return unsafe withUnsafeMutablePointer(to: &piece) { piece in
                        var message = unsafe msghdr()
                        unsafe message.msg_name = address.baseAddress
                        unsafe message.msg_namelen = socklen_t(address.count)
                        unsafe message.msg_iov = piece
                        unsafe message.msg_iovlen = 1
                        unsafe message.msg_control = control.isEmpty ? nil : control.baseAddress
                        unsafe message.msg_controllen = .init(control.count)
                        return unsafe sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
                    }
                }
            }
        }
        guard result < 0 else { return .sent }
        // The datagram exceeds the protocol's limit, or the socket's buffer even when that is empty.
        return errno == EMSGSIZE || errno == ENOBUFS ? .tooLarge : .lost(errno: errno)
    }

    /// `sockaddr_un`: the family, then the path. An abstract name begins with a zero byte instead of `@`.
    private static func address(of path: String) -> [UInt8]? {
        var name = Array(path.utf8)
        let isAbstract = name.first == UInt8(ascii: "@")
        guard isAbstract || name.first == UInt8(ascii: "/"), name.count > 1, !name.contains(0) else { return nil }
        if isAbstract { name[0] = 0 } else { name.append(0) }
        guard name.count <= MemoryLayout<sockaddr_un>.size - MemoryLayout<sa_family_t>.size else { return nil }
        let family = sa_family_t(AF_UNIX)
        return unsafe withUnsafeBytes(of: family) { unsafe Array($0) } + name
    }

    /// One `cmsghdr` of SCM_RIGHTS with one descriptor, padded to a word as CMSG_SPACE requires.
    private static func control(passing file: Int32) -> [UInt8] {
        let word = MemoryLayout<Int>.size
        let header = MemoryLayout<cmsghdr>.size
        var bytes = [UInt8](repeating: 0, count: header + word)
        var fields = cmsghdr()
        fields.cmsg_len = .init(header + MemoryLayout<Int32>.size)
        fields.cmsg_level = SOL_SOCKET
        fields.cmsg_type = Int32(SCM_RIGHTS)
        unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe withUnsafeBytes(of: &fields) { unsafe bytes.copyMemory(from: $0) }
            unsafe withUnsafeBytes(of: file) { file in
                unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[header...]).copyMemory(from: file)
            }
        }
        return bytes
    }
}
