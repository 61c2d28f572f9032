import Glibc

@testable import Systemd

/// A Unix datagram socket in a temporary directory: a test's journald or service manager.
final class DatagramListener {
    let directory: String
    let path: String
    private let descriptor: Int32

    struct Datagram: Equatable {
        var bytes: [UInt8]
        /// What the passed file held, if one was passed.
        var file: [UInt8]?
        /// Its seals (F_GET_SEALS).
        var seals: Int32?
    }

    struct Failure: Error { let call: String }

    /// Listens at a path, or with `abstract` at a name that no directory shows.
    init(abstract: Bool = false, receiveBuffer: Int32? = nil) throws {
        var template = Array("/tmp/saker-systemd-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(call: "mkdtemp") }
        directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        path = abstract ? "@" + directory : directory + "/socket"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { field in
            field.copyBytes(from: name)
            if abstract { field[0] = 0 }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (abstract ? 0 : 1))
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard bound == 0 else { throw Failure(call: "bind") }
    }

    deinit {
        close(descriptor)
        unlink(path)
        rmdir(directory)
    }

    /// The next datagram, waiting at most a minute; nil when none comes.
    func receive() -> Datagram? {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&ready, 1, 60_000) == 1 ? take() : nil
    }

    /// A datagram that has arrived already.
    func take() -> Datagram? {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var control = [UInt8](repeating: 0, count: 64)
        var controlCount = 0
        let count = bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var piece = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &piece) { piece in
                    var message = msghdr()
                    message.msg_iov = piece
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    let count = recvmsg(descriptor, &message, Int32(MSG_DONTWAIT))
                    controlCount = message.msg_controllen
                    return count
                }
            }
        }
        guard count >= 0 else { return nil }
        var datagram = Datagram(bytes: Array(bytes.prefix(count)))
        if controlCount >= MemoryLayout<cmsghdr>.size + 4 {
            let file = control.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: MemoryLayout<cmsghdr>.size, as: Int32.self)
            }
            defer { close(file) }
            lseek(file, 0, SEEK_SET)
            let length = read(file, &bytes, bytes.count)
            datagram.file = Array(bytes.prefix(max(0, length)))
            datagram.seals = fcntl(file, 1034)
        }
        return datagram
    }

    /// The next datagram as text.
    func text() -> String? { receive().map { String(decoding: $0.bytes, as: UTF8.self) } }
}

/// Reads the journal's native format, as its documentation describes it.
func journalFields(_ bytes: [UInt8]) -> [String: String]? {
    var fields: [String: String] = [:]
    var rest = bytes[...]
    while let end = rest.firstIndex(of: 0x0A) {
        let line = rest[..<end]
        rest = rest[(end + 1)...]
        if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
            fields[String(decoding: line[..<equals], as: UTF8.self)] = String(
                decoding: line[(equals + 1)...], as: UTF8.self)
            continue
        }
        guard rest.count > 8 else { return nil }
        let count = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(8)
        guard rest.count > count, rest[rest.startIndex + count] == 0x0A else { return nil }
        fields[String(decoding: line, as: UTF8.self)] = String(decoding: rest.prefix(count), as: UTF8.self)
        rest = rest.dropFirst(count + 1)
    }
    return rest.isEmpty ? fields : nil
}
