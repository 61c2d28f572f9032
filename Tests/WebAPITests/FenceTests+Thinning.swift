import Foundation
import Geodesy
import JSON
import Testing

@testable import WebAPI

/// Lines with more vertices than a fence may have.
extension FenceTests {
    /// How far the farthest of some places lies from a line, in metres at 40 degrees of latitude: plain trigonometry.
    private func farthest(_ places: [[Double]], from line: [[Double]]) -> Double {
        let (north, east) = (111_035.0, 85_394.0)
        func distance(_ place: [Double], _ start: [Double], _ end: [Double]) -> Double {
            let (x, y): (Double, Double) = ((end[1] - start[1]) * east, (end[0] - start[0]) * north)
            let (a, b): (Double, Double) = ((place[1] - start[1]) * east, (place[0] - start[0]) * north)
            let along: Double = max(0, min(1, (x * a + y * b) / (x * x + y * y)))
            return hypot(a - along * x, b - along * y)
        }
        var worst = 0.0
        for place in places {
            var nearest = Double.infinity
            for (start, end) in zip(line, line.dropFirst()) { nearest = min(nearest, distance(place, start, end)) }
            worst = max(worst, nearest)
        }
        return worst
    }

    /// As little is lost as 100 vertices allow, and the answer says how much.
    @Test func aLineKeepsTheVerticesThatAreAllowed() async throws {
        let bench = try await bench()
        let given: [[Double]] = (0..<300).map { index in
            let wave: Double = sin(Double(index) * 0.21)
            return [40 + 0.0002 * wave, 116 + Double(index) * 0.0005]
        }
        let text = given.map { "\($0[0]),\($0[1])" }.joined(separator: ";")
        let made = try await bench.post("fence/createpolylinefence", "vertexes=\(text)&offset=50&coord_type=wgs84")
        #expect(made.status == 0 && made["thinned"]?["given"] == 300, "\(made)")
        let kept = try await list(bench, "fence_ids=1&coord_type_output=wgs84").first?["vertexes"]?.items ?? []
        // A few less than the limit may come as near.
        #expect((90...100).contains(kept.count) && made["thinned"]?["vertexes"] == .integer(Int64(kept.count)))
        let line: [[Double]] = kept.map { [$0["latitude"]?.doubleValue ?? 0, $0["longitude"]?.doubleValue ?? 0] }
        let worst: Double = farthest(given, from: line)
        let told: Double = made["thinned"]?["deviation"]?.doubleValue ?? -1
        #expect(abs(told - worst) < 0.02 + worst * 0.01, "told \(told), measured \(worst)")
        // A line of every third vertex would be farther off.
        let even: Double = farthest(given, from: stride(from: 0, to: 300, by: 3).map { given[$0] } + [given[299]])
        #expect(told <= even + 0.01 && told > 0, "\(told) of \(even)")
        let same = try await bench.post(
            "fence/updatepolylinefence", "fence_id=1&vertexes=\(text)&offset=60&coord_type=wgs84")
        #expect(same["thinned"]?["deviation"]?.doubleValue == told)
        let short = try await bench.post("fence/updatepolylinefence", "fence_id=1&offset=70")
        #expect(short.status == 0 && short["thinned"] == nil)
        let narrow = (0..<300).map { "\($0 % 2 == 0 ? "40" : "40.0003"),\(116 + Double($0) * 0.0005)" }
        let refused = try await bench.post(
            "fence/createpolylinefence", "vertexes=\(narrow.joined(separator: ";"))&offset=20&coord_type=wgs84")
        #expect(refused.status == 2 && refused["message"]?.stringValue?.contains("thinned to 100") == true)
    }

    /// Clients close a line by saying its last place twice, and stand somewhere while they record one.
    @Test(arguments: [[299], [0], [0, 299], [150, 150, 150], [299, 299, 299]])
    func verticesThatStandTwiceAreToldToo(_ repeated: [Int]) async throws {
        let bench = try await bench()
        var given: [[Double]] = (0..<300).map { index in
            let wave: Double = sin(Double(index) * 0.21)
            return [40 + 0.0002 * wave, 116 + Double(index) * 0.0005]
        }
        for index in repeated.sorted(by: >) { given.insert(given[index], at: index) }
        let text = given.map { "\($0[0]),\($0[1])" }.joined(separator: ";")
        let made = try await bench.post("fence/createpolylinefence", "vertexes=\(text)&offset=50&coord_type=wgs84")
        #expect(made.status == 0 && made["thinned"]?["given"] == .integer(Int64(given.count)), "\(made)")
        let kept = try await list(bench, "fence_ids=1&coord_type_output=wgs84").first?["vertexes"]?.items ?? []
        let line: [[Double]] = kept.map { [$0["latitude"]?.doubleValue ?? 0, $0["longitude"]?.doubleValue ?? 0] }
        let worst: Double = farthest(given, from: line)
        let told: Double = made["thinned"]?["deviation"]?.doubleValue ?? -1
        #expect(abs(told - worst) < 0.02 + worst * 0.01, "told \(told), measured \(worst)")
        let same = try await bench.post(
            "fence/updatepolylinefence", "fence_id=1&vertexes=\(text)&offset=60&coord_type=wgs84")
        #expect(same["thinned"]?["deviation"]?.doubleValue == told, "\(same)")
    }

    /// The search for the fewest vertices costs the square of the bends.
    @Test func aLineThatBendsAtEachVertexIsSearchedInItsWorstBends() {
        let line = (0..<2000).map { index in
            Degrees(latitude: 40 + Double(index * 7919 % 100) * 0.00001, longitude: 116 + Double(index) * 0.0001)
        }
        let bends = PolylineThinning.bends(of: line, over: 0.001)
        #expect(bends.count == PolylineThinning.mostBends && bends == bends.sorted())
        #expect(bends.first == 0 && bends.last == 1999)
        #expect(PolylineThinning.bends(of: Array(line.prefix(300)), over: 0.001) == Array(0..<300))
        let thinned = PolylineThinning(line, to: 100)
        #expect(thinned.given == 2000 && thinned.line.count <= 100)
        // The band is 111 m wide, and a line through its middle stays within half of that.
        #expect((30...112).contains(thinned.deviation), "\(thinned.deviation)")
    }

    /// The least deviation of so many vertices, by trying every way from one to another.
    private func leastDeviation(_ line: [[Double]], _ limit: Int) -> Double {
        let count = line.count
        var best = [[Double]](repeating: [Double](repeating: .infinity, count: count), count: limit)
        best[0][0] = 0
        for step in 1..<limit {
            for last in 1..<count {
                for first in 0..<last where best[step - 1][first] < best[step][last] {
                    let between = Array(line[(first + 1)..<max(last, first + 1)])
                    let worst = between.isEmpty ? 0 : farthest(between, from: [line[first], line[last]])
                    best[step][last] = min(best[step][last], max(best[step - 1][first], worst))
                }
            }
        }
        return best.map { $0[count - 1] }.min() ?? .infinity
    }

    /// With the first seed, the best way of the second line leaves a straight stretch at a vertex in its middle.
    @Test(arguments: [1_608_596_026, UInt64.random(in: 1...UInt64(UInt32.max))])
    func thinningComesNearTheLeastDeviation(seed: UInt64) {
        var state = seed
        func random() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 40) / Double(1 << 24) - 0.5
        }
        for round in 0..<12 {
            var (line, heading) = ([[40.0, 116.0]], 0.0)
            for _ in 0..<45 {
                heading += random() * (round % 3 == 0 ? 6 : 1)
                let last = line[line.count - 1]
                line.append([last[0] + 0.0003 * sin(heading), last[1] + 0.0004 * cos(heading)])
            }
            let thinned = PolylineThinning(line.map { Degrees(latitude: $0[0], longitude: $0[1]) }, to: 9)
            let least = leastDeviation(line, 9)
            #expect(thinned.line.count <= 9)
            #expect(thinned.deviation <= least * 1.02 + 0.01, "round \(round): \(thinned.deviation) of \(least)")
            #expect(thinned.deviation >= least * 0.99 - 0.01, "round \(round): \(thinned.deviation) of \(least)")
        }
    }
}
