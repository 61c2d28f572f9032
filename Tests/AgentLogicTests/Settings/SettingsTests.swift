import Testing

@testable import AgentLogic

struct SettingsTests {
    @Test func theDefaultsAreThoseOfTheDocumentation() {
        let settings = Settings()
        #expect(settings.gatherInterval == 5)
        #expect(settings.packInterval == 30)
        #expect(settings.cacheLimit == 268_435_456)
        #expect(settings.location == LocationOptions(desiredAccuracy: nil, distanceFilter: nil, activity: .other))
        #expect(!settings.keepAlive)
    }

    @Test(arguments: [(2, 2), (2, 300), (300, 300), (5, 30), (7, 294)] as [(Int64, Int64)])
    func goodIntervals(_ gather: Int64, _ pack: Int64) throws {
        var settings = Settings()
        try settings.setIntervals(gather: gather, pack: pack)
        #expect(Int64(settings.gatherInterval) == gather)
        #expect(Int64(settings.packInterval) == pack)
    }

    @Test(
        arguments: [
            (1, 30, .gatherInterval), (301, 301, .gatherInterval), (.min, 30, .gatherInterval), (5, 1, .packInterval),
            (5, 301, .packInterval), (5, .max, .packInterval), (5, 31, .packInterval), (30, 5, .packInterval),
            (0, 0, .gatherInterval),
        ] as [(Int64, Int64, SettingKey)])
    func badIntervalsChangeNothingAndSayWhichOneIsWrong(_ gather: Int64, _ pack: Int64, _ key: SettingKey) {
        var settings = Settings()
        let error = #expect(throws: SettingsError.self) { try settings.setIntervals(gather: gather, pack: pack) }
        #expect(error?.key == key)
        #expect(error?.detail.contains("use ") == true)
        #expect(settings == Settings())
    }

    @Test func theSuggestedPackIntervalIsAllowed() {
        for gather in 2...300 as ClosedRange<Int64> {
            for pack in 2...300 as ClosedRange<Int64> where !pack.isMultiple(of: gather) {
                var settings = Settings()
                let error = #expect(throws: SettingsError.self) {
                    try settings.setIntervals(gather: gather, pack: pack)
                }
                let words = error?.detail.split(separator: ": use ").last?.split(separator: " ").first ?? ""
                let suggested = Int64(words) ?? -1
                #expect(throws: Never.self) { try settings.setIntervals(gather: gather, pack: suggested) }
            }
        }
    }

    @Test func theCacheLimitHasAMinimumAndCanBeOff() throws {
        var settings = Settings()
        try settings.setCacheLimit(2_097_152)
        #expect(settings.cacheLimit == 2_097_152)
        for bytes in [2_097_151, 0, -1, .min] as [Int64] {
            let error = #expect(throws: SettingsError.self) { try settings.setCacheLimit(bytes) }
            #expect(error?.key == .cacheLimit)
        }
        #expect(settings.cacheLimit == 2_097_152)
        try settings.setCacheLimit(nil)
        #expect(settings.cacheLimit == nil)
    }

    @Test(arguments: [0, -1, .nan, .infinity, 10_001] as [Double]) func badAccuracies(_ metres: Double) {
        var settings = Settings()
        let error = #expect(throws: SettingsError.self) {
            try settings.setLocation(LocationOptions(desiredAccuracy: metres))
        }
        #expect(error?.key == .desiredAccuracy)
    }

    @Test(arguments: [0, -1, .nan, .infinity, 100_001] as [Double]) func badDistances(_ metres: Double) {
        var settings = Settings()
        let error = #expect(throws: SettingsError.self) {
            try settings.setLocation(LocationOptions(distanceFilter: metres))
        }
        #expect(error?.key == .distanceFilter)
        #expect(settings == Settings())
    }

    @Test func aChangeChangesWhatItNames() throws {
        var settings = Settings()
        try settings.change {
            $0.packInterval = 60
            $0.desiredAccuracy = 25
            $0.activity = "automotive"
            $0.keepAlive = true
        }
        #expect(settings.gatherInterval == 5)
        #expect(settings.packInterval == 60)
        #expect(settings.location == LocationOptions(desiredAccuracy: 25, activity: .automotive))
        #expect(settings.keepAlive)
        try settings.change {
            $0.desiredAccuracy = nil
            $0.cacheLimit = nil
        }
        #expect(settings.location.desiredAccuracy == nil)
        #expect(settings.cacheLimit == nil)
    }

    @Test func parkingIsSetByItsDelayAndKeepsItsInterval() throws {
        var settings = Settings()
        try settings.change { $0.parkingInterval = 60 }
        #expect(settings.location.parking == nil)
        try settings.change { $0.parkingDelay = 300 }
        #expect(settings.location.parking == ParkingOptions(delay: 300, interval: 60))
        #expect(try Settings(SettingsRecord(settings)) == settings)
        try settings.change { $0.parkingDelay = nil }
        #expect(settings.location.parking == nil)
        #expect(settings.parkingInterval == 60)
        #expect(try Settings(SettingsRecord(settings)) == settings)
    }

    @Test(arguments: [0, 59, 86_401, -1, Int64.max, Int64.min]) func badParkingDelays(_ seconds: Int64) {
        var settings = Settings()
        let error = #expect(throws: SettingsError.self) { try settings.change { $0.parkingDelay = seconds } }
        #expect(error?.key == .parkingDelay)
        #expect(settings == Settings())
    }

    @Test(arguments: [0, 9, 86_401, -1, Int64.max]) func badParkingIntervals(_ seconds: Int64) {
        var settings = Settings()
        let error = #expect(throws: SettingsError.self) { try settings.change { $0.parkingInterval = seconds } }
        #expect(error?.key == .parkingInterval)
        #expect(error?.detail.contains("10 to 86400") == true)
        #expect(settings == Settings())
    }

    @Test func aChangeWithOneMistakeChangesNothing() {
        var settings = Settings()
        let error = #expect(throws: SettingsError.self) {
            try settings.change {
                $0.gatherInterval = 10
                $0.activity = "sailing"
            }
        }
        #expect(error?.key == .activity)
        #expect(error?.detail.contains("fitness") == true)
        #expect(settings == Settings())
    }

    /// Each setting takes a value of its own type and no other, and is off exactly when it can be.
    @Test(arguments: SettingKey.allCases) func aSettingIsReadAndSetByItsKey(_ key: SettingKey) {
        let values: [SettingKey.Kind: SettingValue] = [
            .integer: .integer(77), .number: .number(7.5), .text: .text("fitness"), .flag: .flag(true),
        ]
        var record = SettingsRecord(Settings())
        for (kind, value) in values where kind != key.kind { record[key] = value }
        #expect(record == SettingsRecord(Settings()))
        record[key] = values[key.kind]
        #expect(record[key] == values[key.kind])
        record[key] = nil
        #expect((record[key] == nil) == key.canBeOff)
        for other in SettingKey.allCases where other != key {
            #expect(record[other] == SettingsRecord(Settings())[other])
        }
    }

    @Test func aRecordGivesTheSameSettingsBack() throws {
        var settings = Settings()
        try settings.setIntervals(gather: 3, pack: 60)
        try settings.setCacheLimit(nil)
        try settings.setLocation(LocationOptions(desiredAccuracy: 50, distanceFilter: 10, activity: .fitness))
        settings.keepAlive = true
        #expect(try Settings(SettingsRecord(settings)) == settings)
        var edited = SettingsRecord(settings)
        edited.packInterval = 61
        #expect(throws: SettingsError.self) { try Settings(edited) }
    }
}
