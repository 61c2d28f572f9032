internal import ConfigurationFile
internal import Dispatch
internal import Logging
internal import NIOCore
internal import SecureLink

/// Connections over TCP and TLS, with the certificates and keys that stand in their files.
///
/// A thread beside the loop reads the files, because disks and tokens take their time. It looks at them when their
/// directories change and before each connection. If the files cannot be used, the connector tells this once, and the
/// former certificates stay in use. Without former certificates each connection fails with the reason, until the files
/// can be used.
final class SecureConnector: LinkConnector {
    private var options: TLSClientOptions
    private var standing: Result<TLSContext, SecureLinkError>
    /// Of what is in force, or was refused last; nil before the first look.
    private var stamps: TLSFileStamps?
    /// The first look, until a connection waits for it.
    private var firstLook: EventLoopFuture<Void>?
    /// Grows with each reload: what a look at the files of former options finds does not count.
    private var generation = 0
    private var isLooking = false
    private var fileEvents: KernelEvents?
    private var deliver: (CertificateReload) -> Void = { _ in }
    private let files = DispatchQueue(label: "io.saker.certificates")
    /// Where a refused PIN is noted; nil notes none.
    private let refusedPINFile: String?

    private enum Finding: Sendable {
        case nothingNew
        case new(TLSFileStamps, Result<TLSContext, SecureLinkError>)
    }

    /// Touches no file: the first look at them is that of ``watch(on:log:deliver:)``, or of the first connection.
    init(_ server: AgentConfiguration.Server, refusedPINFile: String? = nil) {
        self.refusedPINFile = refusedPINFile
        options = Self.options(server)
        standing = .failure(
            SecureLinkError(.configuration, "the files of certificates and keys are still being read"))
    }

    /// What an operator should know of the certificates and keys in use.
    private var warnings: [String] {
        switch standing {
        case .success(let context): context.warnings.map { "\($0)" }
        case .failure: []
        }
    }

    var clientCertificateEnd: Int64? {
        switch standing {
        case .success(let context): context.clientCertificateEnd
        case .failure: nil
        }
    }

    /// Why the files of certificates and keys cannot be used; nil when they can. Opens no token: that may count against its
    /// PIN, and another process may use it.
    static func obstacle(_ server: AgentConfiguration.Server) -> String? {
        var options = options(server)
        if case .store? = options.clientCertificate?.key { options.clientCertificate = nil }
        do throws(SecureLinkError) {
            _ = try TLSContext(options)
            return nil
        } catch {
            return error.detail
        }
    }

    func connect(
        to server: AgentConfiguration.Server, verificationTime: Int64?, on loop: any EventLoop,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        let own = NIOLoopBound(self, eventLoop: loop)
        // A look that takes longer holds up this connection and no other.
        let looked = firstLook ?? look(on: loop)
        firstLook = nil
        return looked.flatMap {
            switch own.value.standing {
            case .success(let context):
                SecureLink.connect(
                    to: server.host, port: server.port, on: loop, context: context,
                    verificationTime: verificationTime, initializer: initializer)
            case .failure(let error): loop.makeFailedFuture(error)
            }
        }
    }

    func watch(on loop: any EventLoop, log: Logger, deliver: @escaping (CertificateReload) -> Void) {
        self.deliver = deliver
        let own = NIOLoopBound(self, eventLoop: loop)
        fileEvents = FileWatch.start(on: loop, log: log) { [unowned self] in
            look(on: loop).whenComplete { _ in own.value.rewatch() }
        }
        rewatch()
        if stamps == nil { firstLook = look(on: loop) }
    }

    func stopWatching() {
        fileEvents?.stop()
        fileEvents = nil
        deliver = { _ in }
    }

    /// Directories may have been made, or links have been set, since.
    private func rewatch() {
        guard let descriptor = fileEvents?.descriptor, descriptor >= 0 else { return }
        let paths = options.files
        files.async { FileWatch.add(paths, to: descriptor) }
    }

    func reload(_ server: AgentConfiguration.Server, on loop: any EventLoop) -> EventLoopFuture<[String]> {
        let new = Self.options(server)
        generation += 1
        let number = generation
        let promise = loop.makePromise(of: Finding.self)
        files.async { [refusedPINFile] in promise.succeed(Self.read(new, refusedPINFile)) }
        let own = NIOLoopBound(self, eventLoop: loop)
        return promise.futureResult.flatMapThrowing { finding in
            guard case .new(let stamps, let result) = finding else { return [] }
            let connector = own.value
            let context = try result.get()
            // Of two reloads in a row the later one counts.
            guard connector.generation == number else { return [] }
            (connector.options, connector.stamps, connector.standing) = (new, stamps, .success(context))
            connector.rewatch()
            return connector.warnings
        }
    }

    /// Completes when the files were looked at, or are being looked at since longer than that: a disk or token that hangs
    /// holds up one connection and no more.
    private func look(on loop: any EventLoop) -> EventLoopFuture<Void> {
        guard !isLooking else { return loop.makeSucceededVoidFuture() }
        isLooking = true
        let (options, known, number) = (options, mustReadAgain ? nil : stamps, generation)
        let promise = loop.makePromise(of: Finding.self)
        files.async { [refusedPINFile] in
            promise.succeed(TLSFileStamps(of: options) == known ? .nothingNew : Self.read(options, refusedPINFile))
        }
        let own = NIOLoopBound(self, eventLoop: loop)
        return promise.futureResult.map { finding in
            own.value.isLooking = false
            guard own.value.generation == number, case .new(let stamps, let result) = finding else { return }
            own.value.adopt(stamps, result)
        }
    }

    /// A token that is plugged in changes no file. A PIN that was refused is another matter: a token locks.
    private var mustReadAgain: Bool {
        guard case .failure(let error) = standing else { return false }
        return error.code != .pinRefused
    }

    private func adopt(_ stamps: TLSFileStamps, _ result: Result<TLSContext, SecureLinkError>) {
        let isFirst = self.stamps == nil
        self.stamps = stamps
        switch (standing, result) {
        case (_, .success) where isFirst:
            standing = result
            deliver(.read(warnings: warnings))
        case (_, .success):
            standing = result
            deliver(.replaced(warnings: warnings))
        case (.success, .failure(let error)): deliver(.refused(reason: error.detail))
        case (.failure(let former), .failure(let error)):
            standing = result
            // Another code says less than another sentence: two errors of one code are equal.
            if error.detail != former.detail { deliver(.missing(reason: error.detail)) }
        }
    }

    private static func read(_ options: TLSClientOptions, _ refusedPINFile: String?) -> Finding {
        let stamps = TLSFileStamps(of: options)
        return .new(stamps, Result { () throws(SecureLinkError) in try context(options, refusedPINFile) })
    }

    private static func context(
        _ options: TLSClientOptions, _ refusedPINFile: String?
    ) throws(SecureLinkError) -> TLSContext {
        let refused = refusedPINFile.flatMap { RefusedPIN(options, notedIn: $0) }
        try refused?.check()
        do throws(SecureLinkError) {
            let context = try TLSContext(options)
            refused?.forget()
            return context
        } catch {
            if error.code == .pinRefused { refused?.remember() }
            throw error
        }
    }

    static func options(_ server: AgentConfiguration.Server) -> TLSClientOptions {
        var options = TLSClientOptions()
        if let file = server.certificateAuthorityFile { options.trust = .authorities(file: file) }
        if let pin = server.pinnedKey {
            options.pins = [pin]
            if server.certificateAuthorityFile == nil { options.trust = .pinnedKeys }
        }
        options.serverName = server.name
        options.minimumVersion = server.minimumTLS
        if let chain = server.clientCertificateFile, let key = server.clientKey {
            options.clientCertificate = .init(
                chainFile: chain, nextChainFile: CertificateFiles.next(of: chain), key: .init(parsing: key),
                store: .init(
                    opener: server.clientKeyProvider.map { .init(parsing: $0) } ?? .automatic,
                    module: server.clientKeyModule, pinFile: server.clientKeyPINFile))
        }
        return options
    }
}
