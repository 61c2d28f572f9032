import Diagnosing
import Glibc

/// Asks for the server's name and knocks at its port, as the agent does.
enum ServerProbe {
    private static let resolutionSeconds: Int64 = 4
    private static let connectMilliseconds: Int32 = 4000
    /// Addresses that are tried, so that all of it has an end.
    private static let addressLimit = 2

    static func facts(host: String, port: Int) async -> FleetServerFacts {
        let resolution = await Deadline.run(seconds: resolutionSeconds) { Stream.resolve(host) } ?? .timeout
        guard case .addresses(let addresses) = resolution else {
            return FleetServerFacts(host: host, port: port, resolution: resolution, connection: nil)
        }
        let connection = await Deadline.run(seconds: Int64(connectMilliseconds) / 1000 + 1) {
            connect(addresses.prefix(addressLimit), port)
        }
        return FleetServerFacts(
            host: host, port: port, resolution: resolution, connection: connection ?? .failed("no answer"))
    }

    private static func connect(_ addresses: some Collection<String>, _ port: Int) -> FleetServerFacts.Connection {
        var trouble = FleetServerFacts.Connection.failed("no address")
        let begin = ContinuousClock.now
        for address in addresses {
            do {
                _ = try Stream(
                    address: address, port: port, milliseconds: connectMilliseconds / Int32(addresses.count))
                return .made(Int64((ContinuousClock.now - begin) / .milliseconds(1)))
            } catch {
                switch error {
                case .refused(let text): trouble = .refused(text)
                case .failed(let text): trouble = .failed(text)
                }
            }
        }
        return trouble
    }
}

/// A TCP connection for a few questions, with a limit for each wait. It closes when the value goes away.
struct Stream: ~Copyable {
    enum Failure: Error, Hashable {
        case refused(String)
        case failed(String)

        var text: String {
            switch self {
            case .refused(let text), .failed(let text): text
            }
        }
    }

    private let descriptor: Int32

    /// The numeric addresses of a name, as the system looks it up; may take as long as the system lets it.
    static func resolve(_ host: String) -> FleetServerFacts.Resolution {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else { return .failed(String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        var next = list
        while let entry = next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            if getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 {
                let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                if !addresses.contains(address) { addresses.append(address) }
            }
            next = entry.ai_next
        }
        return addresses.isEmpty ? .failed("the name has no addresses") : .addresses(addresses)
    }

    /// Connects to a numeric address within so many milliseconds.
    init(address: String, port: Int, milliseconds: Int32) throws(Failure) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, String(port), &hints, &list) == 0, let entry = list?.pointee else {
            throw .failed("\(address) is no address")
        }
        defer { freeaddrinfo(list) }
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(entry.ai_family, kind, 0)
        guard descriptor >= 0 else { throw Self.failure(errno) }
        if connect(descriptor, entry.ai_addr, entry.ai_addrlen) != 0 {
            var number = errno
            if number == EINPROGRESS {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                number = ETIMEDOUT
                if poll(&waiting, 1, milliseconds) > 0 {
                    var size = socklen_t(MemoryLayout<Int32>.size)
                    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size)
                }
            }
            guard number == 0 else {
                close(descriptor)
                throw Self.failure(number)
            }
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads for so many milliseconds, at most 16 KiB. Nil at the end of the stream, empty when nothing comes.
    func receive(milliseconds: Int32) -> [UInt8]? {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, max(0, milliseconds)) > 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private static func failure(_ number: Int32) -> Failure {
        let text = String(cString: strerror(number))
        return number == ECONNREFUSED ? .refused(text) : .failed(text)
    }
}
