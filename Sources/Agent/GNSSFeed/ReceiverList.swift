internal import TrackModel

/// The receivers that gpsd named, with the number of satellites that each used last; at most ``most`` receivers.
struct ReceiverList: Hashable {
    private struct Satellites: Hashable {
        var used: Int
        var time: MonotonicTime
    }

    static let most = 16

    private var isActive: [String: Bool] = [:]
    private var satellites: [String?: Satellites] = [:]

    mutating func replace(with devices: [GPSDDevice]) {
        isActive = [:]
        for device in devices { update(device) }
    }

    mutating func update(_ device: GPSDDevice) {
        guard isActive[device.path] != nil || isActive.count < Self.most else { return }
        isActive[device.path] = device.isActive
        if !device.isActive { satellites[device.path] = nil }
    }

    mutating func sawSatellites(_ used: Int, of device: String?, at time: MonotonicTime) {
        guard satellites[device] != nil || satellites.count < Self.most else { return }
        satellites[device] = Satellites(used: used, time: time)
    }

    /// As a message of the last `age` milliseconds told.
    func satellites(of device: String?, at now: MonotonicTime, within age: Int64) -> Int? {
        guard let latest = satellites[device], now - latest.time <= age else { return nil }
        return latest.used
    }

    /// Why no position can come, a sentence for people; nil when one can come. Only `wanted` counts; nil means any
    /// receiver.
    func lack(of wanted: String?) -> String? {
        if let wanted {
            guard let active = isActive[wanted] else { return "gpsd has no receiver \(wanted)" }
            return active ? nil : "gpsd does not have \(wanted) open: unplugged, or gpsd may not open it"
        }
        if isActive.isEmpty { return "gpsd has no receiver" }
        guard isActive.values.contains(true) else {
            let paths = isActive.keys.sorted().joined(separator: ", ")
            return "gpsd does not have \(paths) open: unplugged, or gpsd may not open it"
        }
        return nil
    }
}
