internal import FoundationEssentials
package import TrackModel

// The generated types in the terms of the other rooms: bytes as [UInt8], streams as StreamID.

extension ClientFrame {
    package init(_ message: OneOf_Message) {
        self.init()
        self.message = message
    }
}

extension ServerFrame {
    package init(_ message: OneOf_Message) {
        self.init()
        self.message = message
    }
}

extension Hello {
    /// Nil when the field is not sixteen bytes.
    package var streamID: StreamID? {
        get { StreamID(bytes: stream) }
        set { stream = Data(newValue?.bytes ?? []) }
    }

    /// Which start of the agent's computer this is, ``WireLimits/bootBytes`` long; empty: unknown.
    package var bootBytes: [UInt8] {
        get { Array(boot) }
        set { boot = Data(newValue) }
    }
}

extension Upload {
    /// A batch for the wire. An empty `entity` and a nil `stream` mean those of the Hello.
    package init(_ batch: EncodedBatch, firstSequence: UInt64, entity: String = "", stream: StreamID? = nil) {
        self.init()
        self.firstSequence = firstSequence
        self.count = UInt32(clamping: batch.count)
        self.entity = entity
        self.encoding = batch.isCompressed ? .zlib : .plain
        self.payload = Data(batch.bytes)
        self.streamID = stream
    }

    /// Nil when the field is empty or not sixteen bytes.
    package var streamID: StreamID? {
        get { StreamID(bytes: stream) }
        set { stream = Data(newValue?.bytes ?? []) }
    }

    package var payloadBytes: [UInt8] {
        get { Array(payload) }
        set { payload = Data(newValue) }
    }
}

extension UploadAck {
    /// Nil when the field is empty or not sixteen bytes.
    package var streamID: StreamID? {
        get { StreamID(bytes: stream) }
        set { stream = Data(newValue?.bytes ?? []) }
    }
}

extension Points {
    /// Custom points for the wire.
    package init(_ batch: EncodedBatch, id: UInt64, entity: String) {
        self.init()
        self.id = id
        self.entity = entity
        self.encoding = batch.isCompressed ? .zlib : .plain
        self.payload = Data(batch.bytes)
        self.count = UInt32(clamping: batch.count)
    }

    package var payloadBytes: [UInt8] {
        get { Array(payload) }
        set { payload = Data(newValue) }
    }
}

extension Heartbeat {
    /// The live hint: the newest point as a plain batch payload of one point; empty when there is none.
    package var liveHintBytes: [UInt8] {
        get { Array(liveHint) }
        set { liveHint = Data(newValue) }
    }

    /// Nil: the agent tells no health with this heartbeat.
    package var report: HealthReport? {
        get { hasHealth ? HealthReport(health) : nil }
        set { if let newValue { health = Health(newValue) } else { clearHealth() } }
    }
}

extension UploadedAlarm {
    package init(key: [UInt8], type: UInt32, json: String, remoteTo: [String] = []) {
        self.init()
        self.key = Data(key)
        self.type = type
        self.json = json
        self.remoteTo = remoteTo
    }

    package var keyBytes: [UInt8] { Array(key) }
}

extension AlarmUploadAck {
    package init(id: UInt64, _ refused: [(key: [UInt8], reason: String)]) {
        self.init()
        self.id = id
        self.refused = refused.map { key, reason in
            var alarm = RefusedAlarm()
            alarm.key = Data(key)
            alarm.reason = reason
            return alarm
        }
    }
}

extension RefusedAlarm {
    package var keyBytes: [UInt8] { Array(key) }
}
