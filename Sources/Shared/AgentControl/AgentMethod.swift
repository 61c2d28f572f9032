/// The methods of `io.saker.Agent`; the raw values are their names on the socket.
package enum AgentMethod: String, Hashable, Sendable, CaseIterable {
    case getStatus = "GetStatus"
    case monitor = "Monitor"
    case startService = "StartService"
    case stopService = "StopService"
    case startGather = "StartGather"
    case stopGather = "StopGather"
    case getSettings = "GetSettings"
    case setIntervals = "SetIntervals"
    case setCacheLimit = "SetCacheLimit"
    case setLocationOptions = "SetLocationOptions"
    case resetSettings = "ResetSettings"
    case setAttributes = "SetAttributes"
    case clearAttributes = "ClearAttributes"
    case getAttributes = "GetAttributes"
    case provideAttributes = "ProvideAttributes"
    case getCacheInfo = "GetCacheInfo"
    case clearCache = "ClearCache"
    case reconnect = "Reconnect"
    case addPoints = "AddPoints"
    case call = "Call"
    case listAlarms = "ListAlarms"

    /// Whether it only reads: then whoever may open the socket may call it.
    package var onlyReads: Bool {
        switch self {
        case .getStatus, .monitor, .getSettings, .getAttributes, .getCacheInfo, .listAlarms: true
        case .startService, .stopService, .startGather, .stopGather, .setIntervals, .setCacheLimit,
            .setLocationOptions, .resetSettings, .setAttributes, .clearAttributes, .provideAttributes, .clearCache,
            .reconnect, .addPoints, .call:
            false
        }
    }
}
