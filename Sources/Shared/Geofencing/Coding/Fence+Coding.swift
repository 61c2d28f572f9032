internal import Geodesy
internal import TrackModel

// The format: docs/formats/fences.md. Numbers are given back as they were given: the datum's, in 64 bits.
extension Fence {
    private static let version: UInt8 = 1

    /// Some 40 bytes, 16 for each vertex, and the texts.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.byte(Self.version)
        writer.signed(Int64(revision))
        writer.signed(Int64(areaRevision))
        writer.signed(created.milliseconds)
        writer.signed(modified.milliseconds)
        writer.signed(revisedAt.milliseconds)
        writer.definition(definition)
        return writer.bytes
    }

    /// The fence with this number.
    ///
    /// `isKnown`: a fence was made from the same bytes before.
    ///
    /// - Throws: ``FenceStateCodingError`` for bytes that no version of this program wrote, and for a fence that breaks a rule.
    package init(id: Int32, encoded bytes: [UInt8], isKnown: Bool = false) throws(FenceStateCodingError) {
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else {
            throw FenceStateCodingError(description: "fence \(id) has format \(version), not \(Self.version)")
        }
        let revision = try reader.number()
        let areaRevision = try reader.number()
        let created = Timestamp(milliseconds: try reader.signed())
        let modified = Timestamp(milliseconds: try reader.signed())
        let revisedAt = Timestamp(milliseconds: try reader.signed())
        let definition = try reader.definition()
        guard reader.remaining == 0 else {
            throw FenceStateCodingError(description: "\(reader.remaining) bytes follow fence \(id)")
        }
        self = try kept { () throws(FenceError) in
            try Fence(
                id: id, revision: revision, areaRevision: areaRevision, definition, created: created,
                modified: modified, revisedAt: revisedAt, isKnown: isKnown)
        }
    }
}

extension FenceDefinition {
    /// How many bytes of ``Fence/encoded`` it takes.
    package var encodedCount: Int {
        var writer = ByteWriter()
        writer.definition(self)
        return writer.bytes.count
    }
}

extension ByteReader {
    /// Where the vertices of a fence are, from where its bytes begin.
    mutating func lines() throws(FenceStateCodingError) -> [FenceBytes.Line] {
        _ = try byte()
        for _ in 0..<5 { _ = try signed() }
        var lines: [FenceBytes.Line] = []
        try passShape(into: &lines)
        return lines
    }
}

/// What breaks a rule was written by no version of this program, or by a later one.
func kept<Value>(_ make: () throws(FenceError) -> Value) throws(FenceStateCodingError) -> Value {
    do throws(FenceError) {
        return try make()
    } catch {
        throw FenceStateCodingError(description: error.description)
    }
}

// Bits of the flags say which parts follow, in their order.
private enum Part {
    static let district: UInt64 = 1
    static let stay: UInt64 = 2
    static let every: UInt64 = 4
    static let isInitialTold: UInt64 = 8
    static let through: UInt64 = 16
    static let isThrough: UInt64 = 32
    static let floor: UInt64 = 64
    static let lower: UInt64 = 128
    static let upper: UInt64 = 256
    static let validity: UInt64 = 512
    static let group: UInt64 = 1024
    static let speedLimit: UInt64 = 2048
    static let isEveryone: UInt64 = 4096
    static let isReported: UInt64 = 8192
    static let origin: UInt64 = 16_384
    static let layer: UInt64 = 32_768
    static let altitude: UInt64 = 65_536
    static let all: UInt64 = 131_071
}

extension ByteWriter {
    mutating func definition(_ fence: FenceDefinition) {
        unsigned(Self.flags(of: fence))
        text(fence.name)
        draft(fence.shape)
        if let district = fence.district { text(district) }
        byte(fence.rule.rawValue)
        if let stay = fence.stay {
            signed(Int64(stay.after))
            if let every = stay.every { signed(Int64(every)) }
        }
        signed(Int64(fence.settle))
        signed(Int64(fence.crossingGap))
        signed(Int64(fence.denoise))
        if let floor = fence.floor { text(floor) }
        if let lower = fence.altitude?.lower { signed(Int64(lower)) }
        if let upper = fence.altitude?.upper { signed(Int64(upper)) }
        if let validity = fence.validity { self.validity(validity) }
        if let group = fence.group { text(group) }
        if let limit = fence.speedLimit {
            signed(Int64(limit.speed))
            signed(Int64(limit.duration))
        }
        unsigned(UInt64(fence.watch.entities.count))
        for entity in fence.watch.entities { text(entity.text) }
        unsigned(UInt64(fence.reactions.count))
        for reaction in fence.reactions {
            text(reaction.on.rawValue)
            byte(reaction.isRemote ? 1 : 0)
            text(reaction.parameters)
        }
        if let origin = fence.origin {
            text(origin.file)
            if let layer = origin.layer { text(layer) }
            text(origin.feature)
            text(origin.attributes)
        }
    }

    private static func flags(of fence: FenceDefinition) -> UInt64 {
        var flags: UInt64 = 0
        func set(_ part: UInt64, if isThere: Bool) { if isThere { flags |= part } }
        set(Part.district, if: fence.district != nil)
        set(Part.stay, if: fence.stay != nil)
        set(Part.every, if: fence.stay?.every != nil)
        set(Part.isInitialTold, if: fence.isInitialTold)
        set(Part.through, if: fence.through != nil)
        set(Part.isThrough, if: fence.through == true)
        set(Part.floor, if: fence.floor != nil)
        set(Part.altitude, if: fence.altitude != nil)
        set(Part.lower, if: fence.altitude?.lower != nil)
        set(Part.upper, if: fence.altitude?.upper != nil)
        set(Part.validity, if: fence.validity != nil)
        set(Part.group, if: fence.group != nil)
        set(Part.speedLimit, if: fence.speedLimit != nil)
        set(Part.isEveryone, if: fence.watch.isEveryone)
        set(Part.isReported, if: fence.isReported)
        set(Part.origin, if: fence.origin != nil)
        set(Part.layer, if: fence.origin?.layer != nil)
        return flags
    }

    private mutating func validity(_ validity: FenceValidity) {
        byte((validity.from == nil ? 0 : 1) | (validity.through == nil ? 0 : 2))
        if let from = validity.from { signed(from.milliseconds) }
        if let through = validity.through { signed(through.milliseconds) }
        unsigned(UInt64(validity.windows.count))
        for window in validity.windows {
            byte(window.days)
            signed(Int64(window.from))
            signed(Int64(window.to))
        }
        switch validity.zone {
        case .offset(let seconds):
            byte(0)
            signed(Int64(seconds))
        case .named(let name):
            byte(1)
            text(name)
        }
    }
}

extension ByteReader {
    /// Passes over what of a definition stands before the end of its shape.
    mutating func passShape(into lines: inout [FenceBytes.Line]) throws(FenceStateCodingError) {
        _ = try unsigned()
        try pass(try count(each: 1))
        try passDraft(into: &lines)
    }

    mutating func definition() throws(FenceStateCodingError) -> FenceDefinition {
        let flags = try unsigned()
        guard flags & ~Part.all == 0 else {
            throw FenceStateCodingError(description: "a fence has unknown parts \(flags)")
        }
        func has(_ part: UInt64) -> Bool { flags & part != 0 }
        let name = try text()
        var fence = FenceDefinition(try draft())
        fence.name = name
        if has(Part.district) { fence.district = try text() }
        fence.rule = FenceRule(rawValue: try byte())
        if has(Part.stay) {
            fence.stay = StayAlarmRule(
                after: Int(try number()), every: has(Part.every) ? Int(try number()) : nil)
        }
        fence.settle = Int(try number())
        fence.crossingGap = Int(try number())
        fence.denoise = try number()
        fence.isInitialTold = has(Part.isInitialTold)
        fence.through = has(Part.through) ? has(Part.isThrough) : nil
        if has(Part.floor) { fence.floor = try text() }
        if has(Part.altitude) {
            fence.altitude = AltitudeRange(
                lower: has(Part.lower) ? try number() : nil, upper: has(Part.upper) ? try number() : nil)
        }
        if has(Part.validity) { fence.validity = try validity() }
        if has(Part.group) { fence.group = try text() }
        if has(Part.speedLimit) { fence.speedLimit = SpeedLimit(speed: try number(), duration: Int(try number())) }
        fence.isReported = has(Part.isReported)
        fence.watch = try watch(isEveryone: has(Part.isEveryone))
        let reactionCount = try count(each: 3)
        for _ in 0..<reactionCount { fence.reactions.append(try reaction()) }
        if has(Part.origin) { fence.origin = try origin(hasLayer: has(Part.layer)) }
        return fence
    }

    private mutating func watch(isEveryone: Bool) throws(FenceStateCodingError) -> FenceSubjects {
        let entityCount = try count(each: 1)
        var entities: [String] = []
        for _ in 0..<entityCount { entities.append(try text()) }
        guard !isEveryone else { return .everyone }
        return try kept { () throws(FenceError) in try FenceSubjects(entities) }
    }

    private mutating func reaction() throws(FenceStateCodingError) -> FenceReaction {
        let name = try text()
        guard let action = FenceAction(rawValue: name) else {
            throw FenceStateCodingError(description: "'\(name)' is no action of a fence")
        }
        let isRemote = try byte() != 0
        let parameters = try text()
        return try kept { () throws(FenceError) in
            try FenceReaction(on: action, parameters: parameters, isRemote: isRemote)
        }
    }

    private mutating func origin(hasLayer: Bool) throws(FenceStateCodingError) -> FenceOrigin {
        let file = try text()
        let layer = hasLayer ? try text() : nil
        let (feature, attributes) = (try text(), try text())
        return try kept { () throws(FenceError) in
            try FenceOrigin(file: file, layer: layer, feature: feature, attributes: attributes)
        }
    }

    private mutating func validity() throws(FenceStateCodingError) -> FenceValidity {
        let flags = try byte()
        var validity = FenceValidity()
        if flags & 1 != 0 { validity.from = Timestamp(milliseconds: try signed()) }
        if flags & 2 != 0 { validity.through = Timestamp(milliseconds: try signed()) }
        let windowCount = try count(each: 3)
        for _ in 0..<windowCount {
            guard let window = WeeklyWindow(days: try byte(), from: try number(), to: try number()) else {
                throw FenceStateCodingError(description: "a weekly window has days or times that there are not")
            }
            validity.windows.append(window)
        }
        validity.zone = try byte() == 0 ? .offset(try number()) : .named(try text())
        return validity
    }
}
