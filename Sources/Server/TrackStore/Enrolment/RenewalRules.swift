package import TrackModel

/// What a box says when it wants its certificate anew. Its key has signed the request.
package struct RenewalRequest: Hashable, Sendable {
    /// See ``DeviceRecord/keyHash``.
    package var keyHash: [UInt8]
    /// 32 bytes; nil leaves what the store knows.
    package var machine: [UInt8]?
    /// The end of the certificate that is issued, if one is.
    package var certificateEnd: Timestamp
    /// The key has signed what the server asked for just now, so this is no old request.
    package var isProven: Bool

    package init(keyHash: [UInt8], machine: [UInt8]? = nil, certificateEnd: Timestamp, isProven: Bool = true) {
        self.keyHash = keyHash
        self.machine = machine
        self.isProven = isProven
        self.certificateEnd = certificateEnd
    }
}

/// What came of a renewal in the store.
package enum RenewalOutcome: Hashable, Sendable {
    case issued(DeviceRecord)
    /// A certificate with the end that the device's present one has; nothing has changed in the store.
    case again(DeviceRecord)
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

    /// What a renewal comes to.
    package enum Decision: Hashable, Sendable {
        case refused(EnrolmentRefusal)
        case pending(DeviceRecord)
        /// A new certificate, which is noted.
        case issue(DeviceRecord)
        /// A certificate until the end of the present one, which changes nothing.
        case again(DeviceRecord)
    }

    /// `device`: which has the key.
    ///
    /// Programs of earlier versions prove nothing: their request may be an old one that somebody else sends again. It makes one new
    /// certificate when the present one is due, and otherwise changes nothing, so it keeps nobody from a renewal. A device that has
    /// proved its key once must prove it always.
    package static func decide(_ request: RenewalRequest, _ device: DeviceRecord?, at now: Timestamp) -> Decision {
        if let refusal = refusal(of: device, at: now) { return .refused(refusal) }
        guard let device else { return .refused(unknownDevice) }
        guard device.state == .active else { return .pending(device) }
        guard !request.isProven else { return .issue(device) }
        guard !device.proves else {
            return .refused(
                EnrolmentRefusal(
                    .requestInvalid,
                    "this device proves its key at each renewal, and this request proves nothing: update saker on the vehicle, or enrol it "
                        + "again"))
        }
        return isDue(device, at: now) ? .issue(device) : .again(device)
    }

    /// Two thirds of the certificate's time are over, as `saker renew` waits for.
    private static func isDue(_ device: DeviceRecord, at now: Timestamp) -> Bool {
        guard let issued = device.issued, now >= issued else { return device.issued == nil }
        let whole = device.certificateEnd.milliseconds - issued.milliseconds
        return now.milliseconds - issued.milliseconds >= whole / 3 * 2
    }

    private static let unknownDevice = EnrolmentRefusal(
        .deviceUnknown, "the server knows no device with this key: enrol the vehicle with a token")

    /// `device`: which has the key, and proves it. Nil: the certificate may be issued.
    package static func refusal(of device: DeviceRecord?, at now: Timestamp) -> EnrolmentRefusal? {
        guard let device else { return unknownDevice }
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
