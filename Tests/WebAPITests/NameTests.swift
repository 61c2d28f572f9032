import JSON
import Testing

@testable import WebAPI

/// Names have no characters that nobody sees; descriptions may.
@Suite("Names")
struct NameTests {
    /// As a URL writes it.
    static let refused = [
        "yard%E2%80%8B", "ya%C2%ADrd", "%F0%9F%85%BF%EF%B8%8F", "yard%20", "%C2%A0yard", "yard%E3%80%80",
        "ya%EF%BF%BErd", "ya%EF%B7%90rd",
        "yard%EF%BF%BC", "yard%F0%9D%85%99", "yard%E2%80%8D", "yard%F3%A0%84%80", "ya%E1%85%9Frd",
    ]

    @Test(arguments: refused) func aNewFenceHasAVisibleName(name: String) async throws {
        let bench = try await Bench()
        let place = "latitude=40.05&longitude=116.31&radius=80"
        let answer = try await bench.post("fence/createcirclefence", "\(place)&fence_name=\(name)")
        #expect(answer.status == 2, "\(answer)")
        #expect(try await bench.post("fence/createcirclefence", "\(place)&fence_name=the%20yard").status == 0)
        let renamed = try await bench.post("fence/updatecirclefence", "fence_id=1&fence_name=\(name)")
        #expect(renamed.status == 2, "\(renamed)")
        #expect(renamed["message"]?.stringValue?.contains("fence_name") == true, "\(renamed)")
    }

    @Test(arguments: refused) func anObjectHasAVisibleName(name: String) async throws {
        let point = "latitude=39.9&longitude=116.4&loc_time=1772677800"
        let bench = try await Bench()
        let answer = try await bench.post("track/addpoint", "entity_name=van&\(point)&object_name=\(name)")
        #expect(answer.status == 2, "\(answer)")
        #expect(answer["message"]?.stringValue?.contains("object_name") == true, "\(answer)")
        #expect(try await bench.post("track/addpoint", "entity_name=van&\(point)&object_name=a%20box").status == 0)
    }

    /// Emoji and some scripts need joiners and variants.
    @Test(arguments: [
        ("%F0%9F%85%BF%EF%B8%8F%20blue%20", 0), ("%F0%9F%91%A9%E2%80%8D%F0%9F%94%A7", 0), ("a%E2%80%8Bb", 0),
        ("a%C2%ADb", 0),
        ("a%0Ab", 2), ("a%1Bb", 2), ("a%C2%9Bb", 2), ("a%E2%80%AEb", 2), ("a%E2%80%A8b", 2),
    ])
    func aDescriptionHoldsAnythingButControls(text: String, status: Int64) async throws {
        let bench = try await Bench()
        #expect(try await bench.post("entity/add", "entity_name=van&entity_desc=\(text)").status == status)
        _ = try await bench.post("entity/add", "entity_name=bus")
        #expect(try await bench.post("entity/update", "entity_name=bus&entity_desc=\(text)").status == status)
    }
}
