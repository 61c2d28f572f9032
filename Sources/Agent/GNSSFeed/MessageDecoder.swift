internal import AgentLogic
internal import CGPS
internal import TrackModel

/// One message of gpsd's, as far as the feed is concerned.
enum GPSDMessage: Hashable {
    /// gpsd's greeting, also the answer to a question about it.
    case version(release: String)
    /// Every receiver gpsd has.
    case devices([GPSDDevice])
    /// One receiver came, went or said what it is.
    case device(GPSDDevice)
    /// ``GNSSReport/satellitesUsed`` is not in it: gpsd tells that by itself.
    case position(GNSSReport)
    /// Nil when it did not list satellites.
    case sky(device: String?, satellitesUsed: Int?)
    case error(String)
    /// Well-formed, and of no interest.
    case other
}

struct GPSDDevice: Hashable {
    let path: String
    /// gpsd has it open.
    let isActive: Bool
}

/// Turns lines into messages; owns libgps's session.
@safe struct MessageDecoder: ~Copyable {
    private let session: UnsafeMutablePointer<gps_data_t>

    init() throws(GNSSFeedError) {
        guard let session = unsafe saker_gps_new() else {
            throw GNSSFeedError(.resources, "no memory for a session of libgps")
        }
        unsafe self.session = session
    }

    deinit {
        unsafe saker_gps_free(session)
    }

    /// Nil for a line that is no message of gpsd's. The line's bytes may be changed.
    func decode(_ line: Range<Int>, in buffer: inout LineBuffer) -> GPSDMessage? {
        guard let shape = MessageShape(buffer.bytes, in: line) else { return nil }
        switch shape.kind {
        case .devices:
            return .devices(
                shape.elements.map { element in
                    buffer.terminate(at: element.upperBound)
                    unpack(element, in: &buffer)
                    return device
                })
        case .other:
            return .other
        case .version:
            unpack(line, in: &buffer)
            return unsafe .version(release: String(cString: saker_gps_release(session)))
        case .device:
            unpack(line, in: &buffer)
            return .device(device)
        case .position:
            unpack(line, in: &buffer)
            return .position(report)
        case .sky:
            unpack(line, in: &buffer)
            let used = unsafe Int(saker_gps_satellites_used(session))
            return .sky(device: path, satellitesUsed: shape.hasArray && used >= 0 ? used : nil)
        case .error:
            unpack(line, in: &buffer)
            return unsafe .error(String(cString: saker_gps_error_text(session)))
        }
    }

    private func unpack(_ part: Range<Int>, in buffer: inout LineBuffer) {
        unsafe buffer.withPart(at: part.lowerBound) { unsafe saker_gps_decode(session, $0) }
    }

    private var path: String? {
        let path = unsafe String(cString: saker_gps_device_path(session))
        return path.isEmpty ? nil : path
    }

    private var device: GPSDDevice {
        GPSDDevice(path: path ?? "", isActive: unsafe saker_gps_device_is_active(session))
    }

    private var report: GNSSReport {
        let position = unsafe saker_gps_position_of(session)
        func known(_ value: Double) -> Double? { value.isFinite ? value : nil }
        return GNSSReport(
            time: Self.time(of: position),
            mode: (0...3).contains(position.mode) ? Int(position.mode) : 0,
            latitude: known(position.latitude_degrees),
            longitude: known(position.longitude_degrees),
            speed: known(position.speed_metres_per_second),
            course: known(position.course_degrees),
            altitudeMSL: known(position.altitude_metres),
            horizontalError: known(position.horizontal_error_metres),
            // gpsd leaves a plain fix out, and libgps says 0 then.
            status: position.status > 0 ? Int(position.status) : nil,
            device: path)
    }

    /// libgps turns a text that is no time into one long ago or far ahead, so only 1980 (GPS began) to 2200 counts.
    private static func time(of position: saker_gps_position) -> Timestamp? {
        guard position.has_time, (315_964_800...7_258_118_400).contains(position.time_seconds),
            (0..<1_000_000_000).contains(position.time_nanoseconds)
        else { return nil }
        return Timestamp(seconds: position.time_seconds)
            .adding(milliseconds: (position.time_nanoseconds + 500_000) / 1_000_000)
    }
}
