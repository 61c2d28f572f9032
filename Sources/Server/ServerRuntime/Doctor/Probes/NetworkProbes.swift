import AlarmCallbacks
import Gateway
import Glibc
import HTTPExchange
import JSON
import MetricsText
import NIOCore
import NIOPosix
import RoadEngine
import RoadMatching
import SecureLink
import ServerIdentity
import TrackModel
import TrackStore
import WebListener

/// Knocks at the server's ports, and tells whether this server answers.
enum PortProbe {
    private static let timeout = TimeAmount.seconds(3)

    static func facts(_ configuration: ServerConfiguration) async -> [PortFacts] {
        let file = try? ServerIdentity.certificates(configuration.tls.certificate)
        var ports: [PortFacts] = []
        let device = configuration.device
        ports.append(
            await port("[device] port", device.host, device.port) {
                await secure($0, device.port, GatewayConfiguration.applicationProtocols, file)
            })
        if let https = configuration.web.https {
            ports.append(
                await port("[web] https_port", https.host, https.port) {
                    await secure($0, https.port, WebListener.applicationProtocols, file)
                })
        }
        if let http = configuration.web.http {
            ports.append(
                await port("[web] http_port", http.host, http.port) {
                    await plain($0, http.port, "/api/v3/entity/list")
                })
        }
        if case .internet(let host, let number) = configuration.metrics {
            ports.append(
                await port("[metrics] listen", host, number) { await plain($0, number, "/metrics") })
        }
        return ports
    }

    /// `ask` tells who answers at a numeric address; nil: nobody.
    private static func port(
        _ setting: String, _ host: String, _ number: Int, _ ask: (String) async -> PortFacts.Found?
    ) async -> PortFacts {
        let place = host.contains(":") ? "[\(host)]:\(number)" : "\(host):\(number)"
        guard number != 0 else { return PortFacts(setting: setting, place: place, found: .notFixed) }
        let near = host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host
        if let found = await ask(near) { return PortFacts(setting: setting, place: place, found: found) }
        return PortFacts(setting: setting, place: place, found: binding(host, number))
    }

    /// Whether the system lets this user have the address; it is given back at once.
    private static func binding(_ host: String, _ port: Int) -> PortFacts.Found {
        guard let address = try? SocketAddress(ipAddress: host, port: port) else {
            return .unusable("\(host) is no address")
        }
        let descriptor = socket(
            address.protocol == .inet6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return .unusable(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var yes: Int32 = 1
        // As the server does: connections that ended a moment ago are no obstacle.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let result = address.withSockAddr { pointer, size in bind(descriptor, pointer, socklen_t(size)) }
        guard result != 0 else { return .free }
        // The unit may give the server what this user lacks.
        return errno == EACCES && port < 1024 ? .privileged : .unusable(String(cString: strerror(errno)))
    }

    // MARK: Who answers

    /// Whoever has the key of the file's certificate is this server; which certificate it shows is compared then.
    private static func secure(
        _ host: String, _ port: Int, _ protocols: [String], _ file: TLSCertificates?
    ) async -> PortFacts.Found? {
        var options = TLSClientOptions.web(.pinnedKeys, pins: Set([file?.pin ?? noKey].compactMap { $0 }))
        options.applicationProtocol = protocols.first ?? options.applicationProtocol
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let limits = SecureLink.Limits(connect: timeout, handshake: timeout, goodbye: .milliseconds(200))
        do {
            let channel = try await SecureLink.connect(
                to: host, port: port, on: loop, context: try TLSContext(options), limits: limits
            ) { $0.eventLoop.makeSucceededVoidFuture() }.get()
            let shown = try? await loop.submit { SecureLink.peerCertificate(on: channel) }.get()
            channel.close(promise: nil)
            return shown == file?.encoded.first ? .ours : .otherCertificate
        } catch let error as SecureLinkError {
            switch error.code {
            case .connectRefused, .connectTimeout, .networkUnreachable: return nil
            case .pinMismatch: return .otherCertificate
            // It has the key. Its names and dates are judged elsewhere.
            case .certificateExpired, .certificateNotYetValid, .certificateWrongName, .certificateUntrusted:
                return .ours
            default: return .stranger("it does not speak TLS")
            }
        } catch {
            return .stranger("it does not speak TLS")
        }
    }

    /// The pin of no key.
    private static let noKey = PublicKeyPin(digest: [UInt8](repeating: 0, count: 32))

    private static func plain(_ host: String, _ port: Int, _ path: String) async -> PortFacts.Found? {
        let limits = HTTPLimits(connect: .seconds(6), total: .seconds(3), bodyBytes: 4 << 20)
        do throws(HTTPExchangeError) {
            let request = try HTTPRequest(
                .get, HTTPAddress(isEncrypted: false, host: host, port: port), path, program: "saker-server")
            let answer = try await HTTPExchange.run(
                request, security: nil, limits: limits, on: MultiThreadedEventLoopGroup.singleton.any())
            let isMetrics = path == "/metrics" && answer.body.starts(with: Array("# HELP saker_".utf8))
            let isAPI = (try? JSONReader.value(of: answer.body))?["status"]?.integerValue != nil
            return answer.status == 200 && (isMetrics || isAPI) ? .ours : .stranger("HTTP \(answer.status)")
        } catch {
            return error.unconnected != nil ? nil : .stranger("it does not speak HTTP")
        }
    }
}

/// Asks the road engine for its status, and for roads around the latest positions.
enum RoadProbe {
    private static let timeout: Int64 = 4000

    static func facts(_ roads: ServerConfiguration.Roads, around places: [Coordinate]) async -> RoadFacts {
        let transport = HTTPRoadTransport(roads.url, connections: 1)
        let facts = await facts(transport, around: places)
        await transport.shutdown()
        return facts
    }

    static func facts(_ transport: some RoadTransport, around places: [Coordinate]) async -> RoadFacts {
        let status: EngineStatus
        do throws(RoadFailure) {
            status = try EngineStatus(try await transport.exchange(.status, within: timeout))
        } catch {
            return .silent(sentence(error))
        }
        // An engine that names no actions offers all of them.
        let missing = status.actions.isEmpty ? [] : EngineStatus.neededActions.filter { !status.actions.contains($0) }
        return .answers(
            version: status.version, missing: missing, tilesModified: status.tilesModified,
            tiles: await tiles(transport, places))
    }

    private static func tiles(_ transport: some RoadTransport, _ places: [Coordinate]) async -> RoadFacts.Tiles {
        guard !places.isEmpty else { return .noPositions }
        do throws(RoadFailure) {
            let reply = try await transport.exchange(LocateRequest.request(for: places), within: timeout)
            return .known(try LocateRequest.known(reply), of: places.count)
        } catch {
            return .failed(sentence(error))
        }
    }

    private static func sentence(_ failure: RoadFailure) -> String {
        switch failure {
        case .timeout: "does not answer in time"
        case .refused: "cannot be connected to"
        case .busy, .open: "is busy"
        case .invalid, .rejected: "does not answer as Valhalla does"
        case .noMapHere: "has no roads there"
        case .noWay: "knows no way there"
        }
    }
}

/// Sends the check of a URL to each operator's URL, as `fence/seturl` does.
enum CallbackProbe {
    private static let most = 50
    private static let atATime = 8

    static func facts(_ waiting: [WaitingAlarms], _ client: CallbackClient) async -> [CallbackFacts] {
        var found: [CallbackFacts] = []
        var rest = waiting.prefix(most)[...]
        while !rest.isEmpty {
            let turn = rest.prefix(atATime)
            rest = rest.dropFirst(atATime)
            found += await withTaskGroup(of: CallbackFacts.self) { group in
                for one in turn { group.addTask { await facts(one, client) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        return found.sorted { $0.service < $1.service }
    }

    private static func facts(_ waiting: WaitingAlarms, _ client: CallbackClient) async -> CallbackFacts {
        let answer = await client.send(CallbackBody.check(of: waiting.service), to: waiting.target, of: waiting.service)
        let problem: String? = if case .failed(let reason) = answer { reason } else { nil }
        return CallbackFacts(
            service: waiting.service.rawValue, url: shown(waiting.target.url), waiting: waiting.count,
            failingSince: waiting.firstTried?.milliseconds, problem: problem)
    }

    /// Scheme, host and port.
    static func shown(_ url: String) -> String {
        guard let colons = url.firstRange(of: "://") else { return "a URL that is none" }
        return String(url[..<colons.upperBound] + url[colons.upperBound...].prefix { $0 != "/" && $0 != "?" })
    }
}
