import Crypto
import Enrolment
import JSON
import Testing
import TrackModel
import TrackStore

@testable import ServerRuntime

/// Whoever has recorded a renewal renews nothing with it.
@Suite struct RenewalProofTests {
    private let key = P256.Signing.PrivateKey()

    private func bench() async throws -> EnrolmentBench {
        let bench = try await EnrolmentBench()
        try await bench.addToken()
        _ = await bench.claim(try EnrolmentBench.request(key))
        return bench
    }

    @Test func aRecordedRenewalIsOfNoUse() async throws {
        let bench = try await bench()
        bench.clocks.pass(250 * 86_400)
        let renewed = try await bench.renewWithProof(key)
        #expect(renewed.status == 200, "\(renewed.answer)")
        let before = try #require(try await bench.devices().first)
        #expect(before.proves)
        // The nonce is too old, of another process, or left out.
        for later in [1, 400, 86_400, 250 * 86_400] as [Int64] {
            bench.clocks.pass(later)
            var bodies = [renewed.request, renewed.request, renewed.request]
            bodies[1]["proves"] = nil
            (bodies[2]["proves"], bodies[2]["nonce"]) = (nil, nil)
            for body in bodies {
                let answer = await bench.call(EnrolmentCall.renewalPath, body, from: "198.51.100.\(later % 250)")
                #expect(answer.status != 200, "\(later): \(answer)")
            }
            #expect(try await bench.devices().first == before)
        }
        // The vehicle itself gets its certificate at once.
        let own = try await bench.renewWithProof(key)
        #expect(own.status == 200, "\(own.answer)")
    }

    @Test func aNonceMustBeSignedAndTheServersOwn() async throws {
        let bench = try await bench()
        bench.clocks.pass(86_400)
        for nonce in [
            "", "0", String(repeating: "0", count: 48), String(repeating: "f", count: 48),
            "-" + String(repeating: "1", count: 47),
        ] {
            #expect(try await bench.renewWithProof(key, nonce: nonce).status == 401, "\(nonce)")
        }
        // A good nonce beside a request that does not sign it.
        let first = await bench.call(
            EnrolmentCall.renewalPath, ["request": .string(try EnrolmentBench.request(key)), "proves": true],
            from: "192.0.2.9")
        let nonce = try #require(first.answer["nonce"])
        let answer = await bench.call(
            EnrolmentCall.renewalPath,
            ["request": .string(try EnrolmentBench.request(key)), "proves": true, "nonce": nonce], from: "192.0.2.9")
        #expect(answer.answer["code"] == "request_invalid")
        #expect(try await bench.devices().first?.proves == false)
    }

    /// Programs of earlier versions prove nothing. Their requests are renewed when it is time, and change nothing otherwise.
    @Test func anEarlierProgramGoesOnAndAReplayKeepsNobodyOff() async throws {
        let bench = try await bench()
        let old = try EnrolmentBench.request(key)
        bench.clocks.pass(100 * 86_400)
        let before = try #require(try await bench.devices().first)
        for _ in 0..<3 { #expect(await bench.renew(old, from: "198.51.100.1").status == 200) }
        #expect(try await bench.devices().first == before)
        // Nobody waits for it.
        #expect(try await bench.renewWithProof(key).status == 200)
        #expect(await bench.renew(old, from: "198.51.100.1").status != 200)

        let other = P256.Signing.PrivateKey()
        _ = await bench.claim(try EnrolmentBench.request(other), entity: "old")
        bench.clocks.pass(250 * 86_400)
        let due = await bench.renew(try EnrolmentBench.request(other), from: "198.51.100.2")
        #expect(due.status == 200)
        let renewed = try #require(try await bench.devices().first { $0.entity == "old" })
        #expect(renewed.issued == bench.clocks.now)
        bench.clocks.pass(700)
        #expect(await bench.renew(try EnrolmentBench.request(other), from: "198.51.100.2").status == 200)
        #expect(try await bench.devices().first { $0.entity == "old" } == renewed)
    }

    @Test func aVehicleOfThisVersionIsBoundFromItsClaimOn() async throws {
        let bench = try await EnrolmentBench()
        try await bench.addToken()
        let request = try EnrolmentBench.request(key)
        _ = await bench.call(
            EnrolmentCall.claimPath,
            ["token": .string(EnrolmentBench.token), "request": .string(request), "entity": "van", "proves": true],
            from: "192.0.2.1")
        bench.clocks.pass(300 * 86_400)
        #expect(await bench.renew(request).answer["code"] == "request_invalid")
        #expect(try await bench.renewWithProof(key).status == 200)
    }

    @Test func askingForANonceCostsNoCredit() async throws {
        let bench = try await bench()
        bench.clocks.pass(300 * 86_400)
        for _ in 0..<1000 {
            let first = await bench.call(
                EnrolmentCall.renewalPath, ["request": "x", "proves": true], from: "198.51.100.3")
            #expect(first.status == 401)
        }
        #expect(try await bench.renewWithProof(key, from: "198.51.100.3").status == 200)
    }
}
