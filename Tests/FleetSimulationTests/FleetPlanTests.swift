import SecureLink
import Testing
import TrackModel

@testable import FleetSimulation

@Suite struct FleetPlanTests {
    private func plan(_ change: (inout FleetPlan) -> Void) -> FleetPlan {
        var plan = FleetPlan(
            host: "127.0.0.1", port: 7443, trust: .systemRoots, service: 1, accessKey: "key", mode: .live)
        change(&plan)
        return plan
    }

    @Test func theDefaultsAreAPlan() throws {
        try plan { _ in }.check()
    }

    @Test func whatIsOutsideItsRangeIsNamed() {
        let wrong: [(String, FleetPlan)] = [
            ("port", plan { $0.port = 0 }), ("vehicles", plan { $0.vehicles = 0 }),
            ("gather", plan { $0.gather = 301 }), ("pack", plan { $0.pack = .nan }),
            ("batch", plan { $0.batch = 1001 }), ("points", plan { $0.points = 0 }),
            ("duration", plan { $0.duration = .infinity }), ("rate", plan { $0.rate = 0 }),
            ("opening", plan { $0.opening = 0 }), ("threads", plan { $0.threads = 65 }),
            ("points a vehicle", plan { ($0.pack, $0.duration, $0.batch) = (0.01, 604_800, 1000) }),
            ("entity", plan { $0.entityPrefix = "no such name\n" }),
        ]
        for (name, plan) in wrong {
            let error = #expect(throws: FleetError.self) { try plan.check() }
            #expect(error?.code == .plan)
            #expect(error?.detail.contains(name) == true, "\(error?.detail ?? "") should name \(name)")
        }
    }

    @Test func aLiveVehicleSendsOneBatchEachPackInterval() {
        let plan = plan { ($0.pack, $0.duration) = (0.5, 10) }
        #expect(plan.batchesPerVehicle == 20)
        #expect(plan.pointsPerVehicle == 120)
    }

    @Test func aBacklogEndsWithAShortBatch() throws {
        let plan = plan { ($0.mode, $0.points, $0.batch, $0.vehicles) = (.backlog, 250, 100, 3) }
        let drives = try DriveFrames.drives(for: plan, now: .init(seconds: 1_800_000_000))
        #expect(drives.count == 3)
        for drive in drives {
            #expect(drive.frames.map(\.points) == [100, 100, 50])
            #expect(drive.frames.map(\.lastSequence) == [100, 200, 250])
        }
        #expect(drives[0].frames[0].bytes != drives[1].frames[0].bytes)
    }

    @Test func theSameSeedMakesTheSameDrives() throws {
        let plan = plan { ($0.mode, $0.points, $0.batch, $0.vehicles) = (.backlog, 60, 30, 2) }
        let drives = try (0..<2).map { _ in
            try DriveFrames.drives(for: plan, now: .init(seconds: 1_800_000_000)).map { $0.frames.map(\.bytes) }
        }
        #expect(drives[0] == drives[1])
    }
}
