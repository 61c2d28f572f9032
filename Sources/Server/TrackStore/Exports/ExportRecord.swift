package import TrackModel

/// What an export has: the points of all entities of a service with `from <= time <= through`.
package struct ExportOrder: Hashable, Sendable {
    /// Whole seconds.
    package var from: Timestamp
    package var through: Timestamp
    /// The datum of the coordinates.
    package var coordinateType: CoordinateType

    package init(from: Timestamp, through: Timestamp, coordinateType: CoordinateType) {
        self.from = from
        self.through = through
        self.coordinateType = coordinateType
    }
}

/// What a finished export has.
package struct ExportResult: Hashable, Sendable {
    package var points: Int64
    /// Of the file.
    package var bytes: Int64

    package init(points: Int64, bytes: Int64) {
        self.points = points
        self.bytes = bytes
    }
}

/// A job that writes points of a service into a file.
package struct ExportRecord: Hashable, Sendable {
    package enum State: Int, Hashable, Sendable, CaseIterable {
        case waiting = 0
        case running = 1
        case done = 2
    }

    /// One number in the whole store, never used again.
    package var number: Int64
    package var service: ServiceID
    package var order: ExportOrder
    /// Names the file. Nobody can guess it, see ``ExportToken``.
    package var token: String
    package var created: Timestamp
    /// When the state changed last, or a worker claimed the job last.
    package var modified: Timestamp
    package var state: State
    /// Set when the job is done.
    package var result: ExportResult?

    package init(
        number: Int64, service: ServiceID, order: ExportOrder, token: String, created: Timestamp, modified: Timestamp,
        state: State, result: ExportResult? = nil
    ) {
        self.number = number
        self.service = service
        self.order = order
        self.token = token
        self.created = created
        self.modified = modified
        self.state = state
        self.result = result
    }
}

/// 32 hexadecimal digits.
package enum ExportToken {
    /// From the system's random numbers.
    package static func random() -> String {
        (0..<32).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }

    /// So a text from outside can be a name in a directory.
    package static func isToken(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 32
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }
}

/// An entity of which an export has points.
package struct ExportedEntity: Hashable, Sendable {
    /// The store's number of it.
    package var number: Int64
    package var name: String

    package init(number: Int64, name: String) {
        self.number = number
        self.name = name
    }
}
