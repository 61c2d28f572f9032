internal import TrackModel
internal import TrackWire

/// Reads along on one connection: what was promised must be true when it is said, and what is under way must be bounded.
final class FrameChecker {
    private let model: () -> StoreModel
    private let service: ServiceID
    private let windowBatches: Int
    private let windowBytes: Int
    /// The right time.
    private let time: () -> Timestamp
    private var stream: StreamID?
    private var underWay: [(last: UInt64, bytes: Int)] = []
    /// The numbers of points under way that are dated too far ahead: the server may refuse these and no others.
    private var ahead: Set<UInt64> = []
    private(set) var violation: Violation?
    private(set) var batchesSent = 0
    /// The program of the two that is an older one; nil: none.
    var older: OlderPrograms.Program?
    /// The server has let an agent in, for a stream.
    var onWelcome: (StreamID) -> Void = { _ in }
    /// The server tells how far it has a stream.
    var onPromise: (StreamID, UInt64) -> Void = { _, _ in }
    /// The server sends a push.
    var onPush: (UInt64) -> Void = { _ in }
    /// The agent says that it has pushes.
    var onPushAcknowledgement: ([UInt64]) -> Void = { _ in }

    /// `windowBatches`, `windowBytes`: what the server grants. One batch alone may be larger.
    init(
        service: ServiceID, windowBatches: Int, windowBytes: Int, time: @escaping () -> Timestamp,
        model: @escaping () -> StoreModel
    ) {
        self.service = service
        self.time = time
        self.windowBatches = windowBatches
        self.windowBytes = windowBytes
        self.model = model
    }

    /// One frame that the agent writes.
    func agentWrote(_ bytes: [UInt8]) {
        guard let frame = try? WireCodec.decodeClient(Self.body(of: bytes)) else {
            return fail(.exactlyOnce, "the agent wrote what is no frame")
        }
        if older == .server, let message = frame.message, let strange = OlderPrograms.unreadable(message) {
            fail(.fences, "the agent tells an older server \(strange)")
        }
        switch frame.message {
        case .hello(let hello): stream = hello.streamID
        case .pushAck(let acknowledgement): onPushAcknowledgement(acknowledgement.ids)
        case .upload(let upload):
            batchesSent += 1
            underWay.append((upload.firstSequence + UInt64(upload.count) - 1, upload.payload.count))
            noteAhead(upload)
            let bytes = underWay.reduce(0) { $0 + $1.bytes }
            if underWay.count > windowBatches || (underWay.count > 1 && bytes > windowBytes) {
                fail(.boundedMemory, "\(underWay.count) batches of \(bytes) bytes are under way")
            }
        default: break
        }
    }

    /// One frame that the server writes.
    func serverWrote(_ bytes: [UInt8]) {
        guard let frame = try? WireCodec.decodeServer(Self.body(of: bytes)) else {
            return fail(.exactlyOnce, "the server wrote what is no frame")
        }
        if older == .agent, let message = frame.message, let strange = OlderPrograms.unreadable(message) {
            fail(.fences, "the server tells an older agent \(strange)")
        }
        switch frame.message {
        case .push(let push): onPush(push.id)
        case .welcome(let welcome):
            promised(welcome.storedThrough, "the welcome")
            if let stream { onWelcome(stream) }
        case .uploadAck(let acknowledgement):
            for point in acknowledgement.refused where !(point.wrongDate && ahead.contains(point.sequence)) {
                fail(.exactlyOnce, "the server refused a point: \(point.reason)")
            }
            ahead = ahead.filter { $0 > acknowledgement.storedThrough }
            promised(acknowledgement.storedThrough, "an acknowledgement")
            underWay.removeAll { $0.last <= acknowledgement.storedThrough }
        case .closing(let closing) where closing.code == .protocol:
            fail(.exactlyOnce, "the server calls the agent's frames wrong: \(closing.reason)")
        default: break
        }
    }

    private func noteAhead(_ upload: Upload) {
        let limit = time().adding(milliseconds: 600_000)
        let points = try? BatchCodec.decode(upload.payloadBytes, isCompressed: upload.encoding == .zlib)
        for (index, point) in (points ?? []).enumerated() where point.fix.time > limit {
            ahead.insert(upload.firstSequence + UInt64(index))
        }
    }

    private func promised(_ sequence: UInt64, _ what: String) {
        guard sequence > 0, let stream else { return }
        onPromise(stream, sequence)
        let stored = model().through(stream, service)
        if sequence > stored {
            fail(.acknowledgementAfterCommit, "\(what) says \(sequence), committed is \(stored)")
        }
    }

    private func fail(_ guarantee: Violation.Guarantee, _ detail: String) {
        if violation == nil { violation = Violation(guarantee: guarantee, detail: detail) }
    }

    /// A frame without its length.
    static func body(of frame: [UInt8]) -> [UInt8] {
        let length = frame.prefix { $0 >= 0x80 }.count + 1
        return Array(frame.dropFirst(length))
    }
}
