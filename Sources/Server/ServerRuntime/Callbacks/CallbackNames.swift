import AlarmCallbacks
import Glibc
import NIOCore
import NIOPosix
import Synchronization
import TrackModel

/// The addresses of operators' servers, and which of them may be reached.
final class CallbackNames: Sendable {
    /// All addresses of a host, the best first; empty when nobody knows the name.
    typealias Lookup = @Sendable (_ host: String, _ port: Int) async -> [SocketAddress]

    private let lookup: Lookup
    private let own: @Sendable () -> Set<String>
    private let takesPrivate: Bool
    private let lookups = Mutex(NameLookups())

    /// `takesPrivate`: addresses of this machine and of private networks may be reached too.
    init(
        takesPrivate: Bool, lookup: @escaping Lookup = CallbackNames.system,
        own: @escaping @Sendable () -> Set<String> = CallbackNames.ownAddresses
    ) {
        (self.takesPrivate, self.lookup, self.own) = (takesPrivate, lookup, own)
    }

    enum Outcome {
        /// In the order in which they are to be tried; not empty.
        case found([String])
        case failed(String)
    }

    /// The addresses that a request to the host may be sent to, as texts.
    func addresses(of host: String, port: Int, for service: ServiceID) async -> Outcome {
        let found: [SocketAddress]
        if let literal = try? SocketAddress(ipAddress: host, port: port) {
            // Nobody has to be asked.
            found = [literal]
        } else {
            if let problem = lookups.withLock({ $0.begin(of: service, host: host) }) { return .failed(problem) }
            found = await lookup(host, port)
            lookups.withLock { $0.end(of: service) }
        }
        let all = found.compactMap { address in address.ipAddress.map { ($0, address) } }
        guard !all.isEmpty else { return .failed("nobody knows the address of \(host)") }
        if takesPrivate { return .found(all.map(\.0)) }
        let own = own()
        let allowed = all.filter { !own.contains($0.0) && PublicAddress.isPublic($0.1.bytes) }.map(\.0)
        guard !allowed.isEmpty else {
            return .failed(
                "\(host) is this machine or in a private network, and private_addresses in [callbacks] is false")
        }
        return .found(allowed)
    }

    /// `getaddrinfo` waits, so each question has a thread of its own: a name server that hangs holds up nobody else.
    /// ``NameLookups`` bounds their number.
    static let system: Lookup = { host, port in
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        let found = await withCheckedContinuation { continuation in
            thread.submit { _ in continuation.resume(returning: resolve(host, port)) }
        }
        try? await thread.shutdownGracefully()
        return found
    }

    static let ownAddresses: @Sendable () -> Set<String> = {
        Set(((try? System.enumerateDevices()) ?? []).compactMap { $0.address?.ipAddress })
    }

    private static func resolve(_ host: String, _ port: Int) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let first = list else { return [] }
        defer { freeaddrinfo(first) }
        var found: [SocketAddress] = []
        var next: UnsafeMutablePointer<addrinfo>? = first
        while let entry = next?.pointee {
            if let raw = UnsafeRawPointer(entry.ai_addr) {
                if entry.ai_family == AF_INET {
                    found.append(SocketAddress(raw.load(as: sockaddr_in.self)))
                } else if entry.ai_family == AF_INET6 {
                    found.append(SocketAddress(raw.load(as: sockaddr_in6.self)))
                }
            }
            next = entry.ai_next
        }
        return found
    }
}

extension SocketAddress {
    /// 4 or 16, in network order.
    fileprivate var bytes: [UInt8] {
        // An address of a link ends with the name of its interface, which is no part of the number.
        guard let text = ipAddress?.split(separator: "%").first.map(String.init) else { return [] }
        let isV6 = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isV6 ? 16 : 4)
        return inet_pton(isV6 ? AF_INET6 : AF_INET, text, &bytes) == 1 ? bytes : []
    }
}
