internal import AgentLogic
internal import FenceDelivery
internal import TrackModel
internal import TrackWire

/// What a server's Welcome says about the server. A server may say any number.
struct LinkTerms: Hashable {
    /// The highest batch payload format that the server reads; at least 1.
    private(set) var payloadFormat = 1
    /// The format of fence sets that the server sends; 0: none, and it takes neither requests nor reports.
    private(set) var fenceFormat: UInt32 = 0
    /// Seconds between two reports of the vehicle's health; 0: the server takes none.
    private(set) var healthInterval: UInt32 = 0
    /// Milliseconds that the server's clock was ahead of this machine's; negative: behind; nil: not known.
    private(set) var clockDifference: Int64?

    /// Before the first login.
    init() {}

    /// `now`: this machine's clock as the Welcome arrived.
    init(_ welcome: Welcome, at now: SystemTime) {
        // 0 says nothing: the server is older than the second format.
        payloadFormat = Int(clamping: max(welcome.payloadFormat, 1))
        fenceFormat = min(welcome.fenceFormat, FenceDelivery.format)
        healthInterval = welcome.healthInterval
        let (difference, isAbsurd) = welcome.serverTime.subtractingReportingOverflow(now.milliseconds)
        clockDifference = isAbsurd || welcome.serverTime == 0 ? nil : difference
    }
}

extension UplinkLimits {
    init(_ limits: Limits) {
        self.init(
            batchPoints: limits.batchPoints, windowBatches: limits.windowBatches, windowBytes: limits.windowBytes)
    }
}
