internal import AgentLogic
internal import CGPS
internal import TrackModel

/// One message of gpsd, with the content that the feed needs.
enum GPSDMessage: Hashable {
    /// gpsd's greeting, and gpsd's answer to ?VERSION.
    case version(release: String)
    /// All receivers of gpsd; `isWhole`: false when there may be more than ``MessageShape/mostElements``, of which the rest is not read.
    case devices([GPSDDevice], isWhole: Bool = true)
    /// One receiver came, went, or identified itself.
    case device(GPSDDevice)
    /// Without ``GNSSReport/satellitesUsed``: gpsd sends that in a separate message.
    case position(GNSSReport)
    /// Nil when the message had no list of satellites.
    case sky(device: String?, satellitesUsed: Int?)
    case error(String)
    /// A well-formed message that the feed does not need.
    case other
}

struct GPSDDevice: Hashable {
    let path: String
    /// gpsd has opened this receiver.
    let isActive: Bool
}

/// Turns lines into messages. Owns libgps's session.
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

    /// Nil for a line that is not a message of gpsd. May change the line's bytes.
    func decode(_ line: Range<Int>, in buffer: inout LineBuffer) -> GPSDMessage? {
        guard let shape = MessageShape(buffer.bytes, in: line) else { return nil }
        switch shape.kind {
        case .devices:
            return .devices(
                shape.elements.map { element in
                    buffer.terminate(at: element.upperBound)
                    unpack(element, in: &buffer)
                    return device
                }, isWhole: shape.elements.count < MessageShape.mostElements)
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
            // gpsd sends no status for a plain fix, and libgps then says 0.
            status: position.status > 0 ? Int(position.status) : nil,
            device: path)
    }

    /// libgps turns a text that is no time into a time long ago or far ahead. So only times from 1980 (the begin of
    /// GPS) to 2200 count.
    private static func time(of position: saker_gps_position) -> Timestamp? {
        guard position.has_time, (315_964_800...7_258_118_400).contains(position.time_seconds),
            (0..<1_000_000_000).contains(position.time_nanoseconds)
        else { return nil }
        return Timestamp(seconds: position.time_seconds)
            .adding(milliseconds: (position.time_nanoseconds + 500_000) / 1_000_000)
    }
}
