import Diagnosing

/// Asks for the server's name and knocks at its port, as the agent does.
enum ServerProbe {
    private static let resolutionSeconds: Int64 = 4
    private static let connectMilliseconds: Int32 = 4000
    /// Addresses that are tried, so that all of it has an end.
    private static let addressLimit = 2

    static func facts(host: String, port: Int) async -> ServerFacts {
        let resolution = await Deadline.run(seconds: resolutionSeconds) { Stream.resolve(host) } ?? .timeout
        guard case .addresses(let addresses) = resolution else {
            return ServerFacts(host: host, port: port, resolution: resolution, connection: nil)
        }
        let connection = await Deadline.run(seconds: Int64(connectMilliseconds) / 1000 + 1) {
            connect(addresses.prefix(addressLimit), port)
        }
        return ServerFacts(
            host: host, port: port, resolution: resolution, connection: connection ?? .failed("no answer"))
    }

    private static func connect(_ addresses: some Collection<String>, _ port: Int) -> ServerFacts.Connection {
        var trouble = ServerFacts.Connection.failed("no address")
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
