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
        ] as [(Int64, Int64, SettingsError.Code)])
    func badIntervalsChangeNothingAndSayWhichOneIsWrong(_ gather: Int64, _ pack: Int64, _ code: SettingsError.Code) {
        var settings = Settings()
        let error = #expect(throws: SettingsError.self) { try settings.setIntervals(gather: gather, pack: pack) }
        #expect(error?.code == code)
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
            #expect(error?.code == .cacheLimit)
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
        #expect(error?.code == .desiredAccuracy)
    }

    @Test(arguments: [0, -1, .nan, .infinity, 100_001] as [Double]) func badDistances(_ metres: Double) {
        var settings = Settings()
        let error = #expect(throws: SettingsError.self) {
            try settings.setLocation(LocationOptions(distanceFilter: metres))
        }
        #expect(error?.code == .distanceFilter)
        #expect(settings == Settings())
    }

    @Test func aPatchChangesWhatItNames() throws {
        var settings = Settings()
        var patch = SettingsPatch()
        patch.packInterval = 60
        patch.desiredAccuracy = .set(25)
        patch.activity = "automotive"
        patch.keepAlive = true
        try settings.apply(patch)
        #expect(settings.gatherInterval == 5)
        #expect(settings.packInterval == 60)
        #expect(settings.location == LocationOptions(desiredAccuracy: 25, activity: .automotive))
        #expect(settings.keepAlive)
        var off = SettingsPatch()
        off.desiredAccuracy = .set(nil)
        off.cacheLimit = .set(nil)
        try settings.apply(off)
        #expect(settings.location.desiredAccuracy == nil)
        #expect(settings.cacheLimit == nil)
    }

    @Test func parkingIsSetByItsDelayAndKeepsItsInterval() throws {
        var settings = Settings()
        var patch = SettingsPatch()
        patch.parkingInterval = 60
        try settings.apply(patch)
        #expect(settings.location.parking == nil)
        patch = SettingsPatch()
        patch.parkingDelay = .set(300)
        try settings.apply(patch)
        #expect(settings.location.parking == ParkingOptions(delay: 300, interval: 60))
        #expect(try Settings(SettingsRecord(settings)) == settings)
        patch.parkingDelay = .set(nil)
        try settings.apply(patch)
        #expect(settings.location.parking == nil)
        #expect(settings.parkingInterval == 60)
        #expect(try Settings(SettingsRecord(settings)) == settings)
    }

    @Test(arguments: [0, 59, 86_401, -1, Int64.max, Int64.min]) func badParkingDelays(_ seconds: Int64) {
        var settings = Settings()
        var patch = SettingsPatch()
        patch.parkingDelay = .set(seconds)
        let error = #expect(throws: SettingsError.self) { try settings.apply(patch) }
        #expect(error?.code == .parkingDelay)
        #expect(settings == Settings())
    }

    @Test(arguments: [0, 9, 86_401, -1, Int64.max]) func badParkingIntervals(_ seconds: Int64) {
        var settings = Settings()
        var patch = SettingsPatch()
        patch.parkingInterval = seconds
        let error = #expect(throws: SettingsError.self) { try settings.apply(patch) }
        #expect(error?.code == .parkingInterval)
        #expect(error?.detail.contains("10 to 86400") == true)
        #expect(settings == Settings())
    }

    @Test func aPatchWithOneMistakeChangesNothing() {
        var settings = Settings()
        var patch = SettingsPatch()
        patch.gatherInterval = 10
        patch.activity = "sailing"
        let error = #expect(throws: SettingsError.self) { try settings.apply(patch) }
        #expect(error?.code == .activity)
        #expect(error?.detail.contains("fitness") == true)
        #expect(settings == Settings())
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
