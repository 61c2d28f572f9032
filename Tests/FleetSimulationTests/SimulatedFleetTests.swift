import Foundation
import Testing

@testable import FleetSimulation

/// The programs themselves, over real TLS.
@Suite(.timeLimit(.minutes(5))) struct SimulatedFleetTests {
    private func withServer(_ body: (ServerProcess) async throws -> Void) async throws {
        let server = try await ServerProcess()
        defer { server.end() }
        try await body(server)
    }

    private func report(_ output: ServerProcess.Output) throws -> FleetReport {
        try #require(output.status == 0, "\(output.errors)")
        return try JSONDecoder().decode(FleetReport.self, from: Data(output.output.utf8))
    }

    @Test func everyPointOfABacklogIsAcknowledged() async throws {
        try await withServer { server in
            let report = try report(
                try await server.fleet([
                    "--mode", "backlog", "--vehicles", "7", "--points", "2050", "--batch", "100", "--threads", "2",
                    "--json",
                ]))
            #expect(report.vehicles == 7)
            #expect(report.batches == 7 * 21)
            #expect(report.points == 7 * 2050)
            #expect(report.pointsPerSecond > 0)
            #expect(report.acknowledgement.p50 > 0)
            #expect(report.acknowledgement.max >= report.acknowledgement.p99)
            // Each second run has streams of its own.
            let again = try self.report(
                try await server.fleet(["--mode", "backlog", "--vehicles", "2", "--points", "10", "--json"]))
            #expect(again.points == 20)
        }
    }

    @Test func aLiveFleetSendsABatchEachPackInterval() async throws {
        try await withServer { server in
            let report = try report(
                try await server.fleet([
                    "--mode", "live", "--vehicles", "20", "--pack", "0.25", "--duration", "1.5", "--json",
                ]))
            #expect(report.batches == 20 * 6)
            #expect(report.points == 20 * 36)
            // The last batch of the last vehicle is due just before the end.
            #expect(report.seconds > 1.2)
        }
    }

    @Test func anIdleFleetIsHeldAndToldInWords() async throws {
        try await withServer { server in
            let output = try await server.fleet(["--mode", "idle", "--vehicles", "12", "--duration", "0.5"])
            #expect(output.status == 0)
            #expect(output.errors == "connected 12\n")
            #expect(output.output.hasPrefix("idle: 12 connections"))
            let held = try #require(output.output.firstMatch(of: /held for ([0-9.]+) s/)?.1)
            #expect(try #require(Double(held)) >= 0.5)
        }
    }

    @Test func pushesAreAcknowledged() async throws {
        try await withServer { server in
            let made = try await server.fleet(["--mode", "backlog", "--vehicles", "2", "--points", "10"])
            try #require(made.status == 0, "\(made.errors)")
            for _ in 1...3 {
                let settings = server.directory.appending(path: "server.toml").path
                let queued = try await ServerProcess.run(
                    "saker-server", ["push", "send", "--config", settings, "--all", "--text", "hello", "1"])
                try #require(queued.status == 0, "\(queued.errors)")
            }
            let held = try report(
                try await server.fleet(["--mode", "idle", "--vehicles", "2", "--duration", "1.5", "--json"]))
            #expect(held.pushes == 6)
            // The server has taken that they came.
            let again = try report(
                try await server.fleet(["--mode", "idle", "--vehicles", "2", "--duration", "0.5", "--json"]))
            #expect(again.pushes == 0)
        }
    }

    @Test func aRefusedPointEndsTheRun() async throws {
        try await withServer { server in
            let output = try await server.fleet([
                "--mode", "backlog", "--vehicles", "2", "--points", "10", "--start-time", "2090-01-01T00:00:00Z",
            ])
            #expect(output.status == 1)
            #expect(output.errors.contains("was refused"))
            #expect(output.output.isEmpty)
        }
    }

    @Test func aRefusedLoginEndsTheRunWithoutTellingTheKey() async throws {
        try await withServer { server in
            let output = try await ServerProcess.run(
                "saker-sim",
                [
                    "fleet", "--server", "127.0.0.1:\(server.devicePort)", "--ca",
                    server.directory.appending(path: "ca.pem").path, "--service", "1", "--ak",
                    try server.secret("wrongwrongwrong"),
                    "--mode", "idle", "--duration", "5",
                ])
            #expect(output.status == 1)
            #expect(output.errors.contains("login refused"))
            #expect(!output.errors.contains("wrongwrong"))
        }
    }

    @Test func aKeyIsNoArgument() async throws {
        try await withServer { server in
            for credentials in [["--enroll", server.enrollment], ["--service", "1", "--ak", "0123456789abcdef"]] {
                let output = try await ServerProcess.run(
                    "saker-sim", ["fleet", "--server", "127.0.0.1:\(server.devicePort)"] + credentials)
                #expect(output.status != 0)
                #expect(output.errors.contains("comes from a file or, with -, from standard input"))
                #expect(!output.errors.contains(credentials.last ?? ""))
            }
        }
    }

    @Test func aServerThatGoesAwayEndsTheRun() async throws {
        try await withServer { server in
            let output = try await server.fleet(["--mode", "idle", "--vehicles", "3", "--duration", "100"]) { text in
                if text.contains("connected 3") { server.kill() }
            }
            #expect(output.status == 1)
            #expect(output.errors.contains("sim-"))
        }
    }

    @Test func anUntrustedServerIsRefused() async throws {
        try await withServer { server in
            let output = try await ServerProcess.run(
                "saker-sim",
                [
                    "fleet", "--server", "127.0.0.1:\(server.devicePort)", "--service", "1", "--ak",
                    try server.secret("key"), "--mode", "idle",
                ])
            #expect(output.status == 1)
            #expect(output.errors.lowercased().contains("certificate"))
        }
    }
}
