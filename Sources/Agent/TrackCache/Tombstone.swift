internal import TrackModel

/// One clear: every point before `below` that it names is gone.
struct Tombstone: Equatable {
    /// Names in one record, at most: 65,536 bytes of body hold them at any length.
    static let maximumNames = 500
    private static let everyEntity = UInt16.max

    let below: UInt64
    /// Nil: every entity.
    let entities: Set<ExactName>?
    let times: ClosedRange<Int64>
    /// As what the records count that it takes. Only the process that made it knows: on the disk it does not stand.
    let cause: CacheLoss

    /// Whether nothing before it can be left.
    var clearsEverything: Bool { entities == nil && times == Int64.min...Int64.max }

    func covers(entity: String, time: Int64) -> Bool {
        times.contains(time) && (entities?.contains(ExactName(entity)) ?? true)
    }

    func covers(sequence: UInt64, entity: String, time: Int64) -> Bool {
        sequence < below && covers(entity: entity, time: time)
    }

    /// The same, in pieces that each fit one record.
    var pieces: [Tombstone] {
        guard let entities, entities.count > Self.maximumNames else { return [self] }
        let names = entities.sorted()
        return stride(from: 0, to: names.count, by: Self.maximumNames).map { start in
            let part = names[start..<min(start + Self.maximumNames, names.count)]
            return Tombstone(below: below, entities: Set(part), times: times, cause: cause)
        }
    }

    /// The body of its record; `below` is the record's sequence. A piece, not more.
    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendInteger(UInt64(bitPattern: times.lowerBound))
        bytes.appendInteger(UInt64(bitPattern: times.upperBound))
        guard let entities else {
            bytes.appendInteger(Self.everyEntity)
            return bytes
        }
        bytes.appendInteger(UInt16(entities.count))
        for name in entities.sorted() {
            bytes.append(UInt8(name.text.utf8.count))
            bytes += name.text.utf8
        }
        return bytes
    }

    init(below: UInt64, entities: Set<ExactName>?, times: ClosedRange<Int64>, cause: CacheLoss = .cleared) {
        self.below = below
        self.entities = entities
        self.times = times
        self.cause = cause
    }

    init?(below: UInt64, decoding body: [UInt8]) {
        guard body.count >= 18 else { return nil }
        let from = Int64(bitPattern: body.integer(at: 0, as: UInt64.self))
        let through = Int64(bitPattern: body.integer(at: 8, as: UInt64.self))
        let count: UInt16 = body.integer(at: 16)
        guard from <= through else { return nil }
        guard count != Self.everyEntity else {
            self.init(below: below, entities: nil, times: from...through)
            return
        }
        var names: Set<ExactName> = []
        var offset = 18
        for _ in 0..<count {
            guard offset < body.count else { return nil }
            let end = offset + 1 + Int(body[offset])
            guard end <= body.count, let name = String(validating: body[(offset + 1)..<end], as: UTF8.self) else {
                return nil
            }
            names.insert(ExactName(name))
            offset = end
        }
        self.init(below: below, entities: names, times: from...through)
    }
}
