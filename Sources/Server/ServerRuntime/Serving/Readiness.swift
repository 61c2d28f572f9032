import ConfigurationFile
import Gateway
import Logging
import ServiceLifecycle
import Systemd

/// The device port as a service.
struct GatewayService: Service {
    let gateway: GatewayServer
    let ports: BoundPorts

    func run() async throws {
        try await gateway.start()
        ports.note(.device, gateway.localPort ?? 0)
        try? await gracefulShutdown()
        await gateway.stop()
    }
}

/// Tells whoever waits for it that the server can be used, and that it is ending.
struct Readiness: Service {
    let ports: BoundPorts
    let portsFile: String?
    let notifier: Notifier
    let logger: Logger

    func run() async throws {
        guard let bound = await cancelWhenGracefulShutdown({ await ports.all() }) else { return await end() }
        if let portsFile {
            do throws(ConfigurationError) {
                try AtomicFile.write(Array(BoundPorts.json(bound).utf8), to: portsFile, mode: 0o644)
            } catch {
                throw ServerError(.configuration, error.detail)
            }
        }
        let web = Self.list(bound, [.http, .https])
        if !web.isEmpty {
            logger.notice(
                "Clients can call the Web API",
                metadata: ["ports": "\(web)", "message_id": "\(MessageID.apiListening)"])
        }
        let all = Self.list(bound, BoundPorts.Name.allCases)
        notifier.ready(status: "listening: " + all)
        logger.notice(
            "The server is ready", metadata: ["ports": "\(all)", "message_id": "\(MessageID.programStarted)"])
        await end()
    }

    private func end() async {
        try? await gracefulShutdown()
        notifier.stopping()
        logger.notice("saker-server stops", metadata: ["message_id": "\(MessageID.programStopping)"])
    }

    private static func list(_ bound: [BoundPorts.Name: Int], _ names: [BoundPorts.Name]) -> String {
        names.compactMap { name in bound[name].map { "\(name.rawValue) \($0)" } }.joined(separator: ", ")
    }
}
