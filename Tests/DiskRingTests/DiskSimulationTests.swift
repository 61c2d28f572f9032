import Testing
import TrackTestKit

@testable import DiskRing

/// The simulated disk forgets what it must and keeps what it promised.
@Suite struct DiskSimulationTests {
    private func disk(_ seed: UInt64 = 1) -> DiskSimulation { DiskSimulation(seed: seed, directories: ["/d"]) }

    private func write(_ disk: DiskSimulation, _ file: CacheFile, _ bytes: [UInt8], at offset: Int = 0) throws -> Int {
        try bytes.withUnsafeBytes { try disk.write(file, $0, at: offset) }
    }

    @Test func aNameIsForgottenUnlessItsDirectoryWasSynchronised() throws {
        var outcomes: Set<Bool> = []
        for seed in 0..<20 as Range<UInt64> {
            let disk = disk()
            let file = try disk.open("/d/a", .replace)
            _ = try write(disk, file, [1])
            try disk.synchronize(file)
            disk.crash(seed: seed)
            outcomes.insert(disk.contents(of: "/d/a") != nil)
        }
        #expect(outcomes == [true, false])
        let disk = disk()
        _ = try disk.open("/d/a", .replace)
        try disk.synchronizeDirectory("/d")
        disk.crash(seed: 3)
        #expect(disk.contents(of: "/d/a") == [])
    }

    @Test func unsynchronisedBytesAreTornAtSectors() throws {
        var whole = 0
        var nothing = 0
        var torn = 0
        for seed in 0..<60 as Range<UInt64> {
            let disk = disk()
            let file = try disk.open("/d/a", .replace)
            _ = try write(disk, file, [UInt8](repeating: 1, count: 4096))
            try disk.synchronize(file)
            try disk.synchronizeDirectory("/d")
            _ = try write(disk, file, [UInt8](repeating: 2, count: 4000), at: 10)
            disk.crash(seed: seed)
            let content = try #require(disk.contents(of: "/d/a"))
            #expect(content.count == 4096 && content.prefix(10).allSatisfy { $0 == 1 })
            let new = content.count { $0 == 2 }
            if new == 0 { nothing += 1 } else if new == 4000 { whole += 1 } else { torn += 1 }
            for sector in stride(from: 512, to: 3584, by: 512) {
                #expect(Set(content[sector..<sector + 512]).count == 1)
            }
        }
        #expect(whole > 0 && nothing > 0 && torn > 0)
    }

    @Test func whatWasSynchronisedStays() throws {
        for seed in 0..<20 as Range<UInt64> {
            let disk = disk()
            let file = try disk.open("/d/a", .replace)
            try disk.synchronizeDirectory("/d")
            _ = try write(disk, file, [1, 2, 3])
            try disk.synchronizeData(file)
            try disk.rename("/d/a", to: "/d/b")
            try disk.synchronizeDirectory("/d")
            disk.crash(seed: seed)
            #expect(disk.contents(of: "/d/b") == [1, 2, 3])
            #expect(disk.contents(of: "/d/a") == nil)
        }
    }

    @Test func damageStaysWhetherItWasSynchronisedOrNot() throws {
        for seed in 0..<20 as Range<UInt64> {
            let disk = disk()
            let file = try disk.open("/d/a", .replace)
            try disk.synchronizeDirectory("/d")
            _ = try write(disk, file, [1, 2, 3])
            try disk.synchronize(file)
            _ = try write(disk, file, [4, 5], at: 3)
            disk.flip(bit: 3, at: 0, of: "/d/a")
            disk.flip(bit: 3, at: 4, of: "/d/a")
            #expect(disk.contents(of: "/d/a") == [9, 2, 3, 4, 13])
            try disk.synchronize(file)
            disk.crash(seed: seed)
            #expect(disk.contents(of: "/d/a") == [9, 2, 3, 4, 13])
        }
    }

    @Test func aFailedSynchronisationLosesWhatItShows() throws {
        let disk = disk()
        let file = try disk.open("/d/a", .replace)
        try disk.synchronizeDirectory("/d")
        _ = try write(disk, file, [1, 2, 3])
        disk.faults = [DiskFault([.synchronizeData], times: 1, number: 5)]
        #expect(throws: CacheFileError(.synchronizeData, 5)) { try disk.synchronizeData(file) }
        #expect(disk.contents(of: "/d/a") == [1, 2, 3])
        try disk.synchronizeData(file)
        disk.crash(seed: 1)
        #expect(disk.contents(of: "/d/a") == [])
    }

    @Test func faultsStrikeWhenTheyAreDue() throws {
        let disk = disk()
        disk.faults = [DiskFault([.open], after: 1, times: 2, number: 13)]
        #expect((try? disk.open("/d/a", .replace)) != nil)
        for _ in 0..<2 { #expect(throws: CacheFileError(.open, 13)) { try disk.open("/d/a", .readOnly) } }
        #expect((try? disk.open("/d/a", .readOnly)) != nil)
        #expect(disk.calls[.open] == 4)
    }

    @Test func aFullDiskTakesWhatFits() throws {
        let disk = disk()
        disk.capacity = 8192
        let file = try disk.open("/d/a", .replace)
        #expect(try write(disk, file, [UInt8](repeating: 1, count: 5000)) == 5000)
        #expect(try write(disk, file, [UInt8](repeating: 1, count: 5000), at: 5000) == 3192)
        #expect(throws: CacheFileError(.write, 28)) { try write(disk, file, [1], at: 8192) }
        #expect(try write(disk, file, [7], at: 100) == 1)
        try disk.unlink("/d/a")
        #expect(disk.usedBytes == 0)
    }

    @Test func aReadOnlyDiskCanBeRead() throws {
        let disk = disk()
        disk.plant([1], at: "/d/a")
        disk.isReadOnly = true
        #expect(throws: CacheFileError(.open, 30)) { try disk.open("/d/a", .readWrite) }
        #expect(throws: CacheFileError(.open, 30)) { try disk.open("/d/b", .readWriteOrCreate) }
        #expect(throws: CacheFileError(.unlink, 30)) { try disk.unlink("/d/a") }
        #expect(throws: CacheFileError(.makeDirectory, 30)) { try disk.makeDirectory("/d/c") }
        #expect(try disk.size(of: disk.open("/d/a", .readOnly)) == 1)
        #expect(try disk.list("/d") == ["a"])
    }

    @Test func withoutPowerNothingHappens() throws {
        let disk = disk()
        disk.callsUntilPowerFailure = 1
        let file = try disk.open("/d/a", .replace)
        #expect(throws: CacheFileError(.write, 5)) { try write(disk, file, [1]) }
        #expect(!disk.hasPower)
        #expect(throws: CacheFileError(.list, 5)) { try disk.list("/d") }
        disk.crash(seed: 1)
        #expect(disk.hasPower)
        #expect(throws: CacheFileError(.write, 9)) { try write(disk, file, [1]) }
    }

    @Test func slowSynchronisationIsAddedUp() throws {
        let disk = disk()
        disk.synchronizationDelay = 40
        let file = try disk.open("/d/a", .replace)
        try disk.synchronize(file)
        try disk.synchronizeData(file)
        try disk.synchronizeDirectory("/d")
        #expect(disk.delay == 120)
    }

    @Test func rotReachesThePlatter() throws {
        let disk = disk()
        disk.plant([0, 0], at: "/d/a")
        disk.flip(bit: 3, at: 1, of: "/d/a")
        disk.flip(bit: 3, at: 2, of: "/d/a")
        disk.crash(seed: 1)
        #expect(disk.contents(of: "/d/a") == [0, 8])
    }

    @Test func theSameSeedIsTheSameDisk() throws {
        var outcomes: Set<[UInt8]> = []
        for _ in 0..<5 {
            let disk = disk()
            let file = try disk.open("/d/a", .replace)
            try disk.synchronizeDirectory("/d")
            _ = try write(disk, file, (0..<3000).map { UInt8(truncatingIfNeeded: $0) })
            disk.crash(seed: 77)
            outcomes.insert(disk.contents(of: "/d/a") ?? [])
        }
        #expect(outcomes.count == 1)
    }
}
