import Diagnosing
import JSON
import Terminal

/// Asks gpsd in its own protocol (JSON lines, version 3): its version, its devices and, when wanted, a fix.
enum GPSDProbe {
    /// Milliseconds for the whole conversation. A receiver reports each second.
    private static let limit: Int64 = 4000
    private static let maximumBytes = 1 << 20

    static func facts(host: String, port: Int, wantsFix: Bool) async -> GPSDFacts {
        let result = await Deadline.run(seconds: limit / 1000 + 2) { ask(host, port, wantsFix) }
        return GPSDFacts(host: host, port: port, result: result ?? .unreachable("it does not answer in time"))
    }

    private static func ask(_ host: String, _ port: Int, _ wantsFix: Bool) -> GPSDFacts.Result {
        guard case .addresses(let addresses) = Stream.resolve(host) else {
            return .unreachable("the name \(host) is not found")
        }
        var trouble = "no address"
        for address in addresses.prefix(2) {
            do {
                let stream = try Stream(address: address, port: port, milliseconds: 1000)
                return converse(stream, wantsFix)
            } catch {
                trouble = error.text
            }
        }
        return .unreachable(trouble)
    }

    private static func converse(_ stream: borrowing Stream, _ wantsFix: Bool) -> GPSDFacts.Result {
        stream.send("?DEVICES;\n" + (wantsFix ? "?WATCH={\"enable\":true,\"json\":true};\n" : ""))
        var conversation = GPSDConversation(wantsFix: wantsFix)
        let end = ContinuousClock.now + .milliseconds(limit)
        var total = 0
        while !conversation.isOver, total < maximumBytes {
            let left = (end - ContinuousClock.now) / .milliseconds(1)
            guard left > 0, let bytes = stream.receive(milliseconds: Int32(left)) else { break }
            total += bytes.count
            conversation.hear(bytes)
        }
        return conversation.result
    }
}

/// The answers of gpsd so far.
struct GPSDConversation {
    private static let maximumLine = 65_536

    private let wantsFix: Bool
    private var line: [UInt8] = []
    private var start: [UInt8] = []
    private var release: String?
    private var devices: [GPSDFacts.Device]?
    private var fix: GPSDFacts.Fix?

    init(wantsFix: Bool) { self.wantsFix = wantsFix }

    /// Everything that was wanted has been said, or somebody else speaks.
    var isOver: Bool {
        if release == nil, !start.isEmpty, start.first != UInt8(ascii: "{") { return true }
        guard let devices else { return false }
        return !wantsFix || devices.isEmpty || (fix?.mode ?? 0) >= 2
    }

    var result: GPSDFacts.Result {
        if let release { return .answers(release: release, devices: devices ?? [], fix: fix) }
        return start.isEmpty
            ? .unreachable("connected, and it says nothing")
            : .foreign(String(decoding: start.prefix(40), as: UTF8.self).printable)
    }

    mutating func hear(_ bytes: [UInt8]) {
        if start.count < 40 { start += bytes.prefix(40) }
        for byte in bytes {
            if byte != UInt8(ascii: "\n") {
                if line.count < Self.maximumLine { line.append(byte) }
                continue
            }
            if let value = try? JSONReader.value(of: line) { hear(value) }
            line = []
        }
    }

    private mutating func hear(_ value: JSONValue) {
        switch value["class"]?.stringValue {
        case "VERSION": release = value["release"]?.stringValue?.printable ?? "of an unknown version"
        case "DEVICES":
            devices = (value["devices"]?.arrayValue ?? []).prefix(32).compactMap { device in
                device["path"]?.stringValue.map {
                    GPSDFacts.Device(
                        path: $0.printable, driver: (device["driver"]?.stringValue ?? "").printable)
                }
            }
        case "TPV":
            let new = GPSDFacts.Fix(
                mode: value["mode"]?.integerValue ?? 0, accuracy: value["eph"]?.doubleValue)
            if new.mode >= fix?.mode ?? 0 { fix = new }
        default: break
        }
    }
}
