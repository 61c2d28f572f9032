internal import TrackModel

// The format: a version, flags, then points, pairs and the episode. Times are differences from the newest point.
extension EntityFenceState {
    private static let version: UInt8 = 1

    /// Some 20 bytes, and some 12 for each fence that the entity is in.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.byte(Self.version)
        var flags: UInt8 = 0
        if lastTime != nil { flags |= 1 }
        if knownThrough != nil { flags |= 2 }
        if overspeed != nil { flags |= 4 }
        writer.byte(flags)
        let base = lastTime ?? knownThrough ?? Timestamp(milliseconds: 0)
        if lastTime != nil || knownThrough != nil { writer.signed(base.milliseconds) }
        if lastTime != nil, let knownThrough { writer.time(knownThrough, base) }
        writer.unsigned(UInt64(points.count))
        for point in points { writer.point(point, base) }
        writer.unsigned(UInt64(pairs.count))
        var last: Int64 = 0
        for pair in pairs {
            writer.signed(Int64(pair.fence) - last)
            last = Int64(pair.fence)
            writer.pair(pair, base)
        }
        if let overspeed {
            writer.signed(Int64(overspeed.fence))
            writer.signed(Int64(overspeed.revision))
            writer.time(overspeed.since, base)
            writer.place(overspeed.place)
            writer.byte(overspeed.isTold ? 1 : 0)
        }
        return writer.bytes
    }

    /// - Throws: ``FenceStateCodingError`` for bytes that no version of this program wrote.
    package init(encoded bytes: [UInt8]) throws(FenceStateCodingError) {
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else {
            throw FenceStateCodingError(description: "the fence state has format \(version), not \(Self.version)")
        }
        let flags = try reader.byte()
        guard flags < 8 else { throw FenceStateCodingError(description: "the fence state has unknown flags \(flags)") }
        var base = Timestamp(milliseconds: 0)
        if flags & 3 != 0 { base = Timestamp(milliseconds: try reader.signed()) }
        if flags & 1 != 0 { lastTime = base }
        if flags & 2 != 0 { knownThrough = flags & 1 != 0 ? try reader.time(base) : base }
        let pointCount = try reader.count(each: 5)
        for _ in 0..<pointCount { points.append(try reader.point(base)) }
        let pairCount = try reader.count(each: 4)
        pairs.reserveCapacity(pairCount)
        var last: Int64 = 0
        for _ in 0..<pairCount {
            let (fence, overflow) = last.addingReportingOverflow(try reader.signed())
            guard !overflow, let number = Int32(exactly: fence), pairs.last.map({ $0.fence < number }) ?? true else {
                throw FenceStateCodingError(description: "the fences of the fence state are not in their order")
            }
            last = fence
            pairs.append(try reader.pair(of: number, base))
        }
        if flags & 4 != 0 {
            let (fence, revision) = (try reader.number(), try reader.number())
            let (since, place) = (try reader.time(base), try reader.place())
            overspeed = OverspeedEpisode(
                fence: fence, revision: revision, since: since, place: place, isTold: try reader.byte() != 0)
        }
        guard reader.remaining == 0 else {
            throw FenceStateCodingError(description: "\(reader.remaining) bytes follow the fence state")
        }
    }
}

extension ByteWriter {
    fileprivate mutating func time(_ time: Timestamp, _ base: Timestamp) {
        signed(time.milliseconds &- base.milliseconds)
    }

    fileprivate mutating func place(_ place: Coordinate) {
        signed(Int64(place.latitudeE7))
        signed(Int64(place.longitudeE7))
    }

    fileprivate mutating func point(_ point: FencePoint, _ base: Timestamp) {
        var flags: UInt8 = point.isFromReceiver ? 1 : 0
        if point.accuracy != nil { flags |= 2 }
        if point.speed != nil { flags |= 4 }
        if point.floor != nil { flags |= 8 }
        if point.altitude != nil { flags |= 16 }
        byte(flags)
        time(point.time, base)
        place(point.place)
        if let accuracy = point.accuracy { signed(Int64(accuracy)) }
        if let speed = point.speed { signed(Int64(speed)) }
        if let floor = point.floor { unsigned(floor.rawValue) }
        if let altitude = point.altitude { signed(Int64(altitude)) }
    }

    fileprivate mutating func pair(_ pair: FencePair, _ base: Timestamp) {
        var flags = pair.place.rawValue | pair.tries << 2
        if pair.nextStay != nil { flags |= 16 }
        if pair.sign != nil { flags |= 32 }
        if pair.held != nil { flags |= 64 }
        byte(flags)
        signed(Int64(pair.revision))
        time(pair.since, base)
        if let nextStay = pair.nextStay { time(nextStay, base) }
        if let sign = pair.sign {
            byte((sign.isConfirmable ? 1 : 0) | (sign.crossing == nil ? 0 : 2))
            time(sign.earliest, base)
            time(sign.latest, base)
            if let crossing = sign.crossing { self.crossing(crossing, base) }
        }
        if let held = pair.held { crossing(held, base) }
    }

    private mutating func crossing(_ crossing: Crossing, _ base: Timestamp) {
        byte(crossing.isEstimated ? 1 : 0)
        time(crossing.time, base)
        place(crossing.place)
        time(crossing.earliest, base)
        time(crossing.latest, base)
    }
}

extension ByteReader {
    fileprivate mutating func time(_ base: Timestamp) throws(FenceStateCodingError) -> Timestamp {
        Timestamp(milliseconds: base.milliseconds &+ (try signed()))
    }

    fileprivate mutating func place() throws(FenceStateCodingError) -> Coordinate {
        let (latitude, longitude) = (try number(), try number())
        guard let place = Coordinate(latitudeE7: latitude, longitudeE7: longitude) else {
            throw FenceStateCodingError(description: "\(latitude), \(longitude) is no place")
        }
        return place
    }

    fileprivate mutating func point(_ base: Timestamp) throws(FenceStateCodingError) -> FencePoint {
        let flags = try byte()
        var point = FencePoint(time: try time(base), place: try place(), isFromReceiver: flags & 1 != 0)
        if flags & 2 != 0 { point.accuracy = try number() }
        if flags & 4 != 0 { point.speed = try number() }
        if flags & 8 != 0 { point.floor = FloorCode(rawValue: try unsigned()) }
        if flags & 16 != 0 { point.altitude = try number() }
        return point
    }

    fileprivate mutating func pair(of fence: Int32, _ base: Timestamp) throws(FenceStateCodingError) -> FencePair {
        let flags = try byte()
        guard let place = FencePair.Place(rawValue: flags & 3), flags < 128 else {
            throw FenceStateCodingError(description: "fence \(fence) has unknown flags \(flags)")
        }
        var pair = FencePair(fence: fence, revision: try number(), place: place, since: try time(base))
        pair.tries = flags >> 2 & 3
        if flags & 16 != 0 { pair.nextStay = try time(base) }
        if flags & 32 != 0 {
            let kind = try byte()
            pair.sign = FencePair.Sign(
                crossing: nil, earliest: try time(base), latest: try time(base), isConfirmable: kind & 1 != 0)
            if kind & 2 != 0 { pair.sign?.crossing = try crossing(base) }
        }
        if flags & 64 != 0 { pair.held = try crossing(base) }
        return pair
    }

    private mutating func crossing(_ base: Timestamp) throws(FenceStateCodingError) -> Crossing {
        let isEstimated = try byte() != 0
        var crossing = Crossing(at: try time(base), try place())
        crossing.isEstimated = isEstimated
        (crossing.earliest, crossing.latest) = (try time(base), try time(base))
        return crossing
    }
}
