package import TrackModel

/// What a box says when it wants its certificate anew. Its key has signed the request.
package struct RenewalRequest: Hashable, Sendable {
    /// See ``DeviceRecord/keyHash``.
    package var keyHash: [UInt8]
    /// 32 bytes; nil leaves what the store knows.
    package var machine: [UInt8]?
    /// The end of the certificate that is issued, if one is.
    package var certificateEnd: Timestamp

    package init(keyHash: [UInt8], machine: [UInt8]? = nil, certificateEnd: Timestamp) {
        self.keyHash = keyHash
        self.machine = machine
        self.certificateEnd = certificateEnd
    }
}

/// What came of a renewal in the store.
package enum RenewalOutcome: Hashable, Sendable {
    case issued(DeviceRecord)
    /// A person must approve the device.
    case pending(DeviceRecord)
    case refused(EnrolmentRefusal)
}

/// The rules of a renewal. The key proves whose it is; no token is needed.
package enum RenewalRules {
    /// Days after the end of a certificate in which it is renewed: a vehicle may sleep through a winter.
    package static let graceDays: Int64 = 90
    /// Seconds from one certificate of a device to the next.
    package static let interval: Int64 = 600

    /// Whether the certificate ended too long ago.
    static func hasEnded(_ device: DeviceRecord, at now: Timestamp) -> Bool {
        now >= device.certificateEnd.adding(milliseconds: graceDays * 86_400_000)
    }

    /// `device`: which has the key. Nil: the certificate may be issued.
    package static func refusal(of device: DeviceRecord?, at now: Timestamp) -> EnrolmentRefusal? {
        guard let device else {
            return EnrolmentRefusal(
                .deviceUnknown, "the server knows no device with this key: enrol the vehicle with a token")
        }
        switch device.state {
        case .revoked:
            return EnrolmentRefusal(
                .deviceRevoked, "the operator has revoked this device (\(device.id)): ask the operator to approve it")
        case .pending: return nil
        case .active: break
        }
        guard !hasEnded(device, at: now) else {
            return EnrolmentRefusal(
                .ended,
                "the certificate ended over \(graceDays) days ago: let the operator forget the device (\(device.id)), and "
                    + "enrol the vehicle again")
        }
        guard let issued = device.issued else { return nil }
        let next = issued.adding(milliseconds: interval * 1000)
        // A clock that was set back holds nobody off for longer than the interval.
        guard now < next, now >= issued else { return nil }
        return EnrolmentRefusal(
            .tooMany, "the device got a certificate less than \(interval / 60) minutes ago",
            retryAfter: (next.milliseconds - now.milliseconds + 999) / 1000)
    }
}
