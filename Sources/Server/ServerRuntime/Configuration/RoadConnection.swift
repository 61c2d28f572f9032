import ConfigurationFile
import Logging
import NIOCore
import RoadEngine
import RoadMatching
import TrackModel

/// The configured road engine.
struct RoadConnection {
    let client: RoadClient
    private let transport: HTTPRoadTransport

    /// Nil when none is configured. `close()` must be called in the end.
    init?(_ roads: ServerConfiguration.Roads?, logger: Logger) {
        guard let roads else { return nil }
        transport = HTTPRoadTransport(roads.url, connections: roads.concurrency)
        let settings = RoadClient.Settings(
            concurrency: roads.concurrency, callPatience: Int64(roads.timeout),
            requestPatience: Int64(roads.requestTimeout), driving: roads.drivingCosting.costing)
        client = RoadClient(transport, settings: settings, logger: logger) {
            MonotonicTime(milliseconds: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000))
        }
    }

    func close() async { await transport.shutdown() }
}

extension ServerConfiguration.Roads.DrivingCosting {
    fileprivate var costing: RoadCosting {
        switch self {
        case .auto: .car
        case .truck: .truck
        case .bus: .bus
        case .motorScooter: .motorScooter
        }
    }
}

/// The base address of a road engine: `http://HOST:PORT`, perhaps with a path.
enum RoadAddress {
    /// The rule that the text breaks; nil when it is an address.
    static func problem(with text: String) -> String? {
        let bytes = Array(text.utf8)
        guard let scheme = ["http://", "https://"].first(where: text.hasPrefix) else {
            return "it must begin with http:// or https://"
        }
        guard bytes.count <= 1024,
            bytes.allSatisfy({ (0x21...0x7E).contains($0) && !"\"<>\\^`{|}#?@".utf8.contains($0) })
        else { return "it has at most 1024 characters of URLs, no user, no query and no #" }
        let authority = text.dropFirst(scheme.count).prefix { $0 != "/" }
        let (host, port) = split(authority)
        if let rule = HostName.problem(with: host) { return "its host: \(rule)" }
        guard let port else { return nil }
        guard let number = Int(port), port.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            (1...65_535).contains(number)
        else { return "its port must be 1 to 65535" }
        return nil
    }

    private static func split(_ authority: Substring) -> (host: String, port: Substring?) {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            let rest = authority[authority.index(after: end)...]
            let host = String(authority[authority.index(after: authority.startIndex)..<end])
            return rest.isEmpty ? (host, nil) : rest.hasPrefix(":") ? (host, rest.dropFirst()) : ("", nil)
        }
        guard let colon = authority.lastIndex(of: ":") else { return (String(authority), nil) }
        return (String(authority[..<colon]), authority[authority.index(after: colon)...])
    }
}
