/// Points without what a ``TrackPoint`` takes for fields that few points have: 48 bytes a point, and no references to count.
///
/// Every field comes back exactly. What only some points have (an object name, attributes, gaps) lies apart.
package struct PackedPoints: Hashable, Sendable {
    /// What nearly all points have.
    @usableFromInline struct Row: Hashable, Sendable {
        @usableFromInline var time: Int64
        @usableFromInline var coordinate: Coordinate
        @usableFromInline var speed: Int32
        @usableFromInline var course: Int32
        @usableFromInline var altitude: Int32
        @usableFromInline var accuracy: Int32
        /// Of a continuity without spans; 0: there is none, or it lies apart.
        @usableFromInline var interval: Int32 = 0
        /// Of what lies apart; -1: nothing.
        @usableFromInline var extra: Int32 = -1
        /// 0: unknown. With ``clockTime`` when the time is that of the vehicle's system clock.
        @usableFromInline var mode: UInt8
        /// 0: unknown.
        @usableFromInline var status: UInt8
        @usableFromInline var satellites: UInt8
        @usableFromInline var flags: Flags

        @usableFromInline static var clockTime: UInt8 { 128 }

        @usableFromInline init(_ fix: Fix, _ type: CoordinateType) {
            time = fix.time.milliseconds
            coordinate = fix.coordinate
            speed = fix.speed ?? 0
            course = fix.course ?? 0
            altitude = fix.altitude ?? 0
            accuracy = fix.accuracy ?? 0
            mode = (fix.mode?.rawValue ?? 0) | (fix.isClockTime ? Self.clockTime : 0)
            status = fix.status?.rawValue ?? 0
            satellites = fix.satellites ?? 0
            flags = []
            if fix.speed != nil { flags.insert(.speed) }
            if fix.course != nil { flags.insert(.course) }
            if fix.altitude != nil { flags.insert(.altitude) }
            if fix.accuracy != nil { flags.insert(.accuracy) }
            if fix.satellites != nil { flags.insert(.satellites) }
            switch type {
            case .wgs84: break
            case .gcj02: flags.insert(.gcj02)
            case .bd09ll: flags.insert(.bd09ll)
            }
        }

        @usableFromInline var type: CoordinateType {
            flags.contains(.gcj02) ? .gcj02 : flags.contains(.bd09ll) ? .bd09ll : .wgs84
        }

        @usableFromInline var fix: Fix {
            Fix(
                time: Timestamp(milliseconds: time), coordinate: coordinate,
                speed: flags.contains(.speed) ? speed : nil, course: flags.contains(.course) ? course : nil,
                altitude: flags.contains(.altitude) ? altitude : nil,
                accuracy: flags.contains(.accuracy) ? accuracy : nil, mode: FixMode(rawValue: mode & ~Self.clockTime),
                status: FixStatus(rawValue: status), satellites: flags.contains(.satellites) ? satellites : nil,
                isClockTime: mode & Self.clockTime != 0)
        }
    }

    /// Which fields are known, the datum, and whether the vehicle was parked.
    @usableFromInline struct Flags: OptionSet, Hashable, Sendable {
        @usableFromInline let rawValue: UInt8

        @usableFromInline init(rawValue: UInt8) { self.rawValue = rawValue }

        @usableFromInline static var speed: Flags { Flags(rawValue: 1) }
        @usableFromInline static var course: Flags { Flags(rawValue: 2) }
        @usableFromInline static var altitude: Flags { Flags(rawValue: 4) }
        @usableFromInline static var accuracy: Flags { Flags(rawValue: 8) }
        @usableFromInline static var satellites: Flags { Flags(rawValue: 16) }
        @usableFromInline static var parked: Flags { Flags(rawValue: 32) }
        @usableFromInline static var gcj02: Flags { Flags(rawValue: 64) }
        @usableFromInline static var bd09ll: Flags { Flags(rawValue: 128) }
    }

    private struct Extra: Hashable, Sendable {
        var objectName: String?
        var attributes: [String: AttributeValue] = [:]
        var continuity: Continuity?
    }

    @usableFromInline var rows: [Row] = []
    private var extras: [Extra] = []

    package init() {}

    @inlinable package var count: Int { rows.count }

    /// For a caller that knows how many points come.
    @inlinable package mutating func reserve(_ count: Int) { rows.reserveCapacity(count) }

    @inlinable package mutating func append(_ fix: Fix, _ type: CoordinateType = .wgs84) { rows.append(Row(fix, type)) }

    package mutating func append(_ point: TrackPoint) {
        append(point.fix, point.coordinateType)
        let index = rows.count - 1
        if point.isParked { setParked(at: index) }
        if let name = point.objectName { setObjectName(name, at: index) }
        if let continuity = point.continuity { setContinuity(continuity, at: index) }
        if !point.attributes.isEmpty { change(at: index) { $0.attributes = point.attributes } }
    }

    /// Adds the points of a range of other points.
    package mutating func append(_ other: PackedPoints, _ range: Range<Int>) {
        let start = rows.count
        rows.append(contentsOf: other.rows[range])
        guard !other.extras.isEmpty else { return }
        for index in start..<rows.count where rows[index].extra >= 0 {
            let extra = other.extras[Int(rows[index].extra)]
            rows[index].extra = Int32(extras.count)
            extras.append(extra)
        }
    }

    /// The points at these positions, in this order.
    package func picked(_ positions: some Sequence<Int>) -> PackedPoints {
        var picked = PackedPoints()
        picked.reserve(positions.underestimatedCount)
        for position in positions { picked.append(self, position..<position + 1) }
        return picked
    }

    /// The point at a position.
    package subscript(position: Int) -> TrackPoint {
        let row = rows[position]
        var point = TrackPoint(row.fix, coordinateType: row.type, isParked: row.flags.contains(.parked))
        if row.interval > 0 { point.continuity = Continuity(interval: row.interval) }
        guard row.extra >= 0 else { return point }
        let extra = extras[Int(row.extra)]
        point.objectName = extra.objectName
        point.attributes = extra.attributes
        if let continuity = extra.continuity { point.continuity = continuity }
        return point
    }

    @inlinable package func time(at position: Int) -> Timestamp { Timestamp(milliseconds: rows[position].time) }

    @inlinable package func isParked(at position: Int) -> Bool { rows[position].flags.contains(.parked) }

    @inlinable package func type(at position: Int) -> CoordinateType { rows[position].type }

    @inlinable package func fix(at position: Int) -> Fix { rows[position].fix }

    // What a reader of a batch learns of a point after it has the point's fix.

    @inlinable package mutating func setParked(at position: Int) { rows[position].flags.insert(.parked) }

    @inlinable package mutating func setClockTime(at position: Int) { rows[position].mode |= Row.clockTime }

    package mutating func setObjectName(_ name: String, at position: Int) {
        change(at: position) { $0.objectName = name }
    }

    package mutating func setAttribute(_ key: String, _ value: AttributeValue, at position: Int) {
        change(at: position) { $0.attributes[key] = value }
    }

    /// Only of a point that has none.
    package mutating func setContinuity(_ continuity: Continuity, at position: Int) {
        if continuity.spans.isEmpty, Continuity.intervals.contains(continuity.interval) {
            rows[position].interval = continuity.interval
        } else {
            change(at: position) { $0.continuity = continuity }
        }
    }

    private mutating func change(at position: Int, _ change: (inout Extra) -> Void) {
        if rows[position].extra < 0 {
            rows[position].extra = Int32(extras.count)
            extras.append(Extra())
        }
        change(&extras[Int(rows[position].extra)])
    }

    /// Of memory, roughly.
    package var bytes: Int {
        extras.reduce(rows.count * MemoryLayout<Row>.stride) {
            $0 + MemoryLayout<Extra>.stride + 96 * $1.attributes.count
        }
    }
}

// Equal points may lie in another order apart.
extension PackedPoints {
    package static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && (0..<left.count).allSatisfy { left[$0] == right[$0] }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        if count > 0 { hasher.combine(self[0]) }
    }
}
