import SecureLink

/// Whether a certificate is due for renewal.
struct RenewalPlan: Hashable {
    enum State: Hashable {
        /// Nothing to do before this time.
        case early(due: Int64)
        case due
        /// It has ended so many whole days ago.
        case ended(days: Int64)
    }

    /// Seconds since 1970, all of them.
    let from: Int64
    let until: Int64

    init(from: Int64, until: Int64) { (self.from, self.until) = (from, until) }
    init(_ validity: CertificateFile.Validity) { (from, until) = (validity.from, validity.until) }

    /// Two thirds of the validity.
    var due: Int64 {
        // A certificate may claim any time, so neither the length nor its double must overflow.
        let length = max(0, until.subtractingReportingOverflow(from).partialValue)
        return from.addingReportingOverflow(length / 3 * 2 + length % 3 * 2 / 3).partialValue
    }

    func state(at now: Int64) -> State {
        if now >= until { return .ended(days: (now - until) / 86_400) }
        return now >= due ? .due : .early(due: due)
    }

    /// Days after the end in which a server still gives a new certificate to the same key.
    static let graceDays: Int64 = 90
}
