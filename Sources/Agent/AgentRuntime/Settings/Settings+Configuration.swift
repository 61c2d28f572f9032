internal import AgentLogic

extension Settings {
    /// The settings that are in force while nobody has set any.
    init(defaultsOf configuration: AgentConfiguration) {
        self.init()
        keepAlive = configuration.gnss.isKeptOpen
        // The configuration has checked its limit by the same rule.
        try? setCacheLimit(configuration.cache.limit.map(Int64.init))
        try? change {
            $0.parkingDelay = configuration.parking.delay.map(Int64.init)
            $0.parkingInterval = Int64(configuration.parking.interval)
        }
    }
}
