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

/// Checks a line before libgps sees it: is it one JSON object, which message of gpsd is it, and where are its parts?
///
/// libgps 3.22 (and later releases) parses a line again from the place where it failed. If a `class` follows behind
/// that place, libgps fails there again and never returns. So libgps gets only a single well-formed object whose only
/// `"class":` comes first; then no rest of the object can start the loop. gpsd writes its messages in this form.
struct MessageShape: Hashable {
    enum Kind: Hashable {
        case version
        case devices
        case device
        case position
        case sky
        case error
        /// Another class, which the feed does not need.
        case other
    }

    let kind: Kind
    /// The objects in an array of the outermost object, at most ``mostElements``: the devices of a DEVICES.
    let elements: [Range<Int>]
    /// The outermost object has an array: in a SKY, the array of satellites.
    let hasArray: Bool

    static let mostElements = 16
    fileprivate static let deepest = 16

    /// Nil when the bytes are not a message of gpsd.
    init?(_ bytes: borrowing [UInt8], in range: Range<Int>) {
        guard let kind = Kind(bytes, in: range) else { return nil }
        var scanner = Scanner(at: range.lowerBound, end: range.upperBound)
        guard scanner.scanObject(bytes) else { return nil }
        // Elements are decoded one by one, under the same rule. Every other message is decoded as a whole.
        switch kind {
        case .devices:
            guard scanner.elements.allSatisfy({ Self.isDevice(bytes, in: $0) }) else { return nil }
        case .other:
            break
        case .version, .device, .position, .sky, .error:
            guard Self.count(of: "\"class\":", bytes, in: range, upTo: 2) == 1 else { return nil }
        }
        self.kind = kind
        elements = kind == .devices ? scanner.elements : []
        hasArray = scanner.hasArray
    }

    private static func isDevice(_ bytes: borrowing [UInt8], in range: Range<Int>) -> Bool {
        Kind(bytes, in: range) == .device && count(of: "\"class\":", bytes, in: range, upTo: 2) == 1
    }

    private static func count(
        of pattern: StaticString, _ bytes: borrowing [UInt8], in range: Range<Int>, upTo most: Int
    ) -> Int {
        var found = 0
        var index = range.lowerBound
        while index < range.upperBound, found < most {
            if bytes[index] == UInt8(ascii: "\""), matches(pattern, bytes, at: index, end: range.upperBound) {
                found += 1
            }
            index += 1
        }
        return found
    }

    fileprivate static func matches(_ text: StaticString, _ bytes: borrowing [UInt8], at index: Int, end: Int) -> Bool {
        guard end - index >= text.utf8CodeUnitCount else { return false }
        for offset in 0..<text.utf8CodeUnitCount where unsafe bytes[index + offset] != text.utf8Start[offset] {
            return false
        }
        return true
    }
}

extension MessageShape.Kind {
    /// Reads the class, which must be the first attribute, without spaces.
    fileprivate init?(_ bytes: borrowing [UInt8], in range: Range<Int>) {
        let start: StaticString = "{\"class\":\""
        guard MessageShape.matches(start, bytes, at: range.lowerBound, end: range.upperBound) else { return nil }
        let name = range.lowerBound + start.utf8CodeUnitCount
        func isClass(_ text: StaticString) -> Bool {
            MessageShape.matches(text, bytes, at: name, end: range.upperBound)
        }
        if isClass("TPV\"") {
            self = .position
        } else if isClass("SKY\"") {
            self = .sky
        } else if isClass("VERSION\"") {
            self = .version
        } else if isClass("DEVICES\"") {
            self = .devices
        } else if isClass("DEVICE\"") {
            self = .device
        } else if isClass("ERROR\"") {
            self = .error
        } else {
            self = .other
        }
    }
}

/// Walks through one JSON object (RFC 8259) without building anything; at most 16 levels deep.
private struct Scanner {
    var index: Int
    let end: Int
    var elements: [Range<Int>] = []
    var hasArray = false
    /// One bit for each level, the innermost lowest: set for an object, clear for an array.
    private var levels: UInt32 = 0
    private var depth = 0
    private var elementStart = 0

    init(at index: Int, end: Int) {
        self.index = index
        self.end = end
    }

    /// True when exactly one object fills the range.
    mutating func scanObject(_ bytes: borrowing [UInt8]) -> Bool {
        guard open(bytes) else { return false }
        while depth > 0 {
            skipSpace(bytes)
            guard index < end else { return false }
            if bytes[index] == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                close()
                guard depth > 0 else { break }
                guard separator(bytes) else { return false }
                continue
            }
            if isInObject {
                guard string(bytes) else { return false }
                skipSpace(bytes)
                guard index < end, bytes[index] == UInt8(ascii: ":") else { return false }
                index += 1
                skipSpace(bytes)
                guard index < end else { return false }
            }
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard open(bytes) else { return false }
            case UInt8(ascii: "\""):
                guard string(bytes), separator(bytes) else { return false }
            default:
                guard token(bytes), separator(bytes) else { return false }
            }
        }
        return index == end
    }

    private var isInObject: Bool { levels & 1 == 1 }

    private mutating func open(_ bytes: borrowing [UInt8]) -> Bool {
        guard index < end, depth < MessageShape.deepest else { return false }
        let isObject = bytes[index] == UInt8(ascii: "{")
        if depth == 1, !isObject { hasArray = true }
        if depth == 2, isObject { elementStart = index }
        levels = levels << 1 | (isObject ? 1 : 0)
        depth += 1
        index += 1
        return true
    }

    private mutating func close() {
        let wasObject = isInObject
        levels >>= 1
        depth -= 1
        index += 1
        if depth == 2, wasObject, !isInObject, elements.count < MessageShape.mostElements {
            elements.append(elementStart..<index)
        }
    }

    /// After a value: a comma that something follows, or the end of the object or array.
    private mutating func separator(_ bytes: borrowing [UInt8]) -> Bool {
        skipSpace(bytes)
        guard index < end else { return false }
        let closing = isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        if bytes[index] == closing { return true }
        guard bytes[index] == UInt8(ascii: ",") else { return false }
        index += 1
        skipSpace(bytes)
        return index < end && bytes[index] != closing
    }

    private mutating func skipSpace(_ bytes: borrowing [UInt8]) {
        while index < end, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
    }

    private mutating func string(_ bytes: borrowing [UInt8]) -> Bool {
        guard bytes[index] == UInt8(ascii: "\"") else { return false }
        index += 1
        while index < end {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte < 0x20 { return false }
            if byte == UInt8(ascii: "\\") {
                guard index < end, bytes[index] >= 0x20 else { return false }
                index += 1
            }
        }
        return false
    }

    /// A number, `true`, `false` or `null`. Checks only the characters; libgps reads the value.
    private mutating func token(_ bytes: borrowing [UInt8]) -> Bool {
        let first = index
        while index < end {
            switch bytes[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                index += 1
            default:
                return index > first
            }
        }
        return false
    }
}
