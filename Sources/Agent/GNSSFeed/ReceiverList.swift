internal import TrackModel

/// The receivers that gpsd named, with the number of satellites that each used last; at most ``most`` receivers.
///
/// A gpsd that gives its receiver name after name fills the list with names of the past. So a new name takes the place of a closed
/// receiver, or of the one that was heard of longest ago.
struct ReceiverList: Hashable {
    private struct Receiver: Hashable {
        var isActive: Bool
        /// Which word of gpsd about a receiver was the last about this one.
        var lastHeard: UInt64
    }

    private struct Satellites: Hashable {
        var used: Int
        var time: MonotonicTime
    }

    static let most = 16

    private var receivers: [String: Receiver] = [:]
    private var satellites: [String?: Satellites] = [:]
    /// Words of gpsd about receivers.
    private var words: UInt64 = 0
    /// gpsd has named more receivers than the list has room for.
    private var isCut = false

    /// All receivers of gpsd. `isWhole`: false when gpsd named more.
    mutating func replace(with devices: [GPSDDevice], isWhole: Bool = true) {
        receivers = [:]
        for device in devices { update(device) }
        isCut = !isWhole
    }

    mutating func update(_ device: GPSDDevice) {
        if receivers[device.path] == nil, receivers.count >= Self.most {
            let oldest = receivers.min { left, right in
                left.value.isActive == right.value.isActive
                    ? left.value.lastHeard < right.value.lastHeard : !left.value.isActive
            }
            if let oldest { receivers[oldest.key] = nil }
            isCut = true
        }
        words &+= 1
        receivers[device.path] = Receiver(isActive: device.isActive, lastHeard: words)
        if !device.isActive { satellites[device.path] = nil }
    }

    /// Whether gpsd has told that this receiver is open.
    func isActive(_ path: String) -> Bool { receivers[path]?.isActive ?? false }

    mutating func sawSatellites(_ used: Int, of device: String?, at time: MonotonicTime) {
        if satellites[device] == nil, satellites.count >= Self.most,
            let oldest = satellites.min(by: { $0.value.time < $1.value.time })
        {
            satellites[oldest.key] = nil
        }
        satellites[device] = Satellites(used: used, time: time)
    }

    /// As a message of the last `age` milliseconds told.
    func satellites(of device: String?, at now: MonotonicTime, within age: Int64) -> Int? {
        guard let latest = satellites[device], now - latest.time <= age else { return nil }
        return latest.used
    }

    /// Why no position can come, a sentence for people; nil when one can come, or when gpsd named too many receivers to know. Only
    /// `wanted` counts; nil means any receiver.
    func lack(of wanted: String?) -> String? {
        if let wanted {
            guard let receiver = receivers[wanted] else { return isCut ? nil : "gpsd has no receiver \(wanted)" }
            return receiver.isActive ? nil : "gpsd does not have \(wanted) open: unplugged, or gpsd may not open it"
        }
        if receivers.isEmpty { return "gpsd has no receiver" }
        guard receivers.values.contains(where: \.isActive) else {
            if isCut { return nil }
            let paths = receivers.keys.sorted().joined(separator: ", ")
            return "gpsd does not have \(paths) open: unplugged, or gpsd may not open it"
        }
        return nil
    }
}
