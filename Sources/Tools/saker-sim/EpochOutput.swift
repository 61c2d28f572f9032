internal import Foundation

/// The destination of the sentences.
protocol EpochOutput: AnyObject {
    /// The line that says where gpsd finds the sentences.
    var announcement: String { get }
    /// Returns when a reader is there.
    func waitForReader()
    /// Handles connections until this time.
    func serve(until time: ContinuousClock.Instant)
    func send(_ text: String)
}

/// Sends each epoch as one datagram, even if nobody listens.
final class DatagramOutput: EpochOutput {
    let announcement: String
    private let descriptor: CInt
    private let address: sockaddr_in

    init(to endpoint: GPSDEndpoint) throws {
        address = try SocketName.address(of: endpoint)
        descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { throw SocketName.failure("socket") }
        announcement = "sending \(endpoint.host):\(endpoint.port)"
    }

    deinit { close(descriptor) }

    func waitForReader() {}

    func serve(until time: ContinuousClock.Instant) {
        let milliseconds = SocketName.milliseconds(until: time)
        if milliseconds > 0 { poll(nil, 0, milliseconds) }
    }

    func send(_ text: String) {
        // An epoch with five kinds of sentences has fewer than 700 bytes.
        var address = address
        let bytes = Array(text.utf8)
        SocketName.withPointer(to: &address) { pointer, length in
            _ = sendto(descriptor, bytes, bytes.count, 0, pointer, length)
        }
    }
}

/// Listens, and sends each epoch to every connection. Closes a connection that does not read.
final class StreamOutput: EpochOutput {
    static let mostReaders = 16

    let announcement: String
    private let descriptor: CInt
    private var readers: [CInt] = []

    init(listeningOn endpoint: GPSDEndpoint) throws {
        var address = try SocketName.address(of: endpoint)
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else {
            announcement = ""
            throw SocketName.failure("socket")
        }
        var on: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
        let listening = descriptor
        var isListening = false
        SocketName.withPointer(to: &address) { pointer, length in
            var length = length
            isListening =
                bind(listening, pointer, length) == 0 && Glibc.listen(listening, 4) == 0
                && getsockname(listening, pointer, &length) == 0
        }
        announcement = "listening \(endpoint.host):\(UInt16(bigEndian: address.sin_port))"
        guard isListening else { throw SocketName.failure("listen on \(endpoint.host):\(endpoint.port)") }
    }

    deinit {
        for reader in readers { close(reader) }
        close(descriptor)
    }

    func waitForReader() {
        while readers.isEmpty { acceptOne(waiting: -1) }
    }

    func serve(until time: ContinuousClock.Instant) {
        while true {
            let milliseconds = SocketName.milliseconds(until: time)
            guard milliseconds > 0 else { return }
            acceptOne(waiting: milliseconds)
        }
    }

    private func acceptOne(waiting milliseconds: CInt) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return }
        let reader = accept(descriptor, nil, nil)
        guard reader >= 0 else { return }
        guard readers.count < Self.mostReaders else {
            close(reader)
            return
        }
        _ = fcntl(reader, F_SETFL, O_NONBLOCK)
        readers.append(reader)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        readers.removeAll { reader in
            discardInput(of: reader)
            let isReading = Glibc.send(reader, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
            if !isReading { close(reader) }
            return !isReading
        }
    }

    /// gpsd sends probes for receivers that it knows. The simulated receiver does not answer, but it must read them.
    private func discardInput(of reader: CInt) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while recv(reader, &bytes, bytes.count, CInt(MSG_DONTWAIT)) == bytes.count {}
    }
}

enum SocketName {
    static func address(of endpoint: GPSDEndpoint) throws -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = endpoint.port.bigEndian
        guard inet_pton(AF_INET, endpoint.host, &address.sin_addr) == 1 else {
            throw SimulationError(.network, "\(endpoint.host): an IPv4 address or localhost is needed")
        }
        return address
    }

    static func failure(_ what: String) -> SimulationError {
        SimulationError(.network, "\(what): \(String(cString: strerror(errno)))")
    }

    static func withPointer(
        to address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Void
    ) {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Rounded up, so that a wait is never too short. 0 when the time has come.
    static func milliseconds(until time: ContinuousClock.Instant) -> CInt {
        let left = ContinuousClock.now.duration(to: time)
        guard left > .zero else { return 0 }
        return CInt(min(60_000, (left / .milliseconds(1)).rounded(.up)))
    }
}
