import FenceJSON
import Geodesy
import Geofencing
import JSON
import Testing
import TrackModel

@Suite struct FenceJSONTests {
    /// Every member, as a program writes it.
    private static let whole = ##"""
        {"actions":[{"on":"enter","params":{"message":{"content":"Gate 3"}},"remote":true},{"on":"overspeed","params":{}}],"altitude":{"lower":-10.5,"upper":123.4},"crossing_gap":0,"denoise":50,"district":"x","floor":"B2","group":"corner","initial":true,"name":"depot","origin":{"attributes":{"a":1},"feature":"1","file":"f","layer":"l"},"report":true,"rule":["enter","stay"],"settle":5,"shape":{"buffer":0.25,"coord_type":"gcj02","kind":"circle","latitude":40.5,"longitude":116.25,"radius":55.5},"speed_limit":{"duration":10,"speed":13.89},"stay":{"after":60,"every":30},"through":false,"validity":{"from":-5,"through":100000,"windows":[{"days":["mon","sun"],"from":3600,"to":86400}],"zone":"Asia/Shanghai"},"watch":["van_1","van_2"]}
        """##

    @Test func aFenceIsWrittenAsItWasRead() throws {
        let given = try JSONReader.value(of: Array(Self.whole.utf8))
        let definition = try FenceDefinition(json: given)
        #expect(definition.json == given)
        // What is usual is left out.
        let usual = FenceDefinition(ShapeDraft(.point(Degrees(latitude: 1, longitude: 2)), buffer: 5))
        #expect(
            usual.json == [
                "shape": ["kind": "point", "latitude": .double(1), "longitude": .double(2), "buffer": .double(5)]
            ])
    }

    @Test func aShapeMayComeFromElsewhere() throws {
        let shape = ShapeDraft(.point(Degrees(latitude: 1, longitude: 2)), buffer: 5)
        let definition = try FenceDefinition(json: ["name": "depot"], shape: shape)
        #expect(definition.shape == shape && definition.name == "depot")
        #expect(throws: FenceJSONError.self) { try FenceDefinition(json: ["name": "depot"]) }
    }

    @Test(arguments: [
        ("[]", "fence is an array, and an object is needed"), ("{}", "fence.shape is missing"),
        (#"{"shape":{}}"#, "fence.shape.kind is missing"),
        (#"{"shape":{"kind":"blob"}}"#, "fence.shape.kind is 'blob'"),
        (#"{"shape":{"kind":"circle","latitude":1,"radius":5}}"#, "fence.shape needs latitude and longitude"),
        (#"{"shape":{"kind":"circle","latitude":1,"longitude":1}}"#, "fence.shape.radius is missing"),
        (#"{"shape":{"kind":"circle","latitude":"1","longitude":1,"radius":5}}"#, "fence.shape.latitude is '\"1\"'"),
        (#"{"shape":{"kind":"point","latitude":1,"longitude":1,"radius":5}}"#, "fence.shape.'radius' is unknown here"),
        (#"{"shape":{"kind":"polygon","parts":[[[[1]]]]}}"#, "fence.shape.parts[0][0][0] is '[1]'"),
        (
            #"{"shape":{"kind":"corridor","vertices":[[1,2]],"offset":1,"coord_type":"x"}}"#,
            "fence.shape.coord_type is 'x'"
        ),
        (#"{"shape":S,"nam":"x"}"#, "fence.'nam' is unknown here"),
        (#"{"shape":S,"name":5}"#, "fence.name is '5', and a text"),
        (#"{"shape":S,"rule":["leave"]}"#, "fence.rule is '\"leave\"'"),
        (#"{"shape":S,"rule":"enter"}"#, "an array is needed"),
        (#"{"shape":S,"stay":{"after":4}}"#, "fence.stay: after"),
        (#"{"shape":S,"stay":{"after":5.5}}"#, "whole number"),
        (#"{"shape":S,"denoise":1e30}"#, "fence.denoise is"), (#"{"shape":S,"through":1}"#, "true or false"),
        (#"{"shape":S,"altitude":{"lower":2,"upper":1}}"#, "the lower end lies above"),
        (#"{"shape":S,"speed_limit":{"speed":0}}"#, "a speed above 0"),
        (#"{"shape":S,"watch":["a",1]}"#, "a list of entities"),
        (##"{"shape":S,"watch":["#x"]}"##, "fence.watch: '#x' cannot"),
        (#"{"shape":S,"actions":[{"on":"leave"}]}"#, "enter, exit, stay, overspeed is needed"),
        (#"{"shape":S,"actions":[{"on":"exit","params":[]}]}"#, "fence.actions.params is '[]', and an object"),
        (#"{"shape":S,"validity":{"windows":[{"days":["someday"]}]}}"#, "mon, tue"),
        (#"{"shape":S,"validity":{"windows":[{"from":86400}]}}"#, "seconds after midnight"),
        (#"{"shape":S,"validity":{"zone":"a","utc_offset":0}}"#, "give one of them"),
        (#"{"shape":S,"origin":{"file":"a"}}"#, "the feature's id is empty"),
    ]) func aWrongDefinitionIsExplained(text: String, reason: String) throws {
        let shape = #"{"kind":"point","latitude":1,"longitude":1,"buffer":5}"#
        let value = try JSONReader.value(of: Array(text.replacing(":S", with: ":\(shape)").utf8))
        do {
            Issue.record("no problem: \(try FenceDefinition(json: value))")
        } catch {
            #expect("\(error)".contains(reason), "\(error)")
        }
    }

    /// The server keeps tenths of metres: no number of metres makes a negative one of them.
    @Test(arguments: [(Int64(4), Int32(40)), (-4, 0), (214_748_364, 2_147_483_640), (300_000_000, 2_147_483_640)])
    func anAccuracyOfAnAlarmHasItsBounds(metres: Int64, tenths: Int32) throws {
        let key = String(repeating: "5f", count: 16)
        let text = """
            {"action":"enter","fence_id":15,"revision":1,"monitored_person":"van","key":"\(key)",\
            "alarm_point":{"latitude":40,"longitude":116,"radius":\(metres),"loc_time":1772670030},\
            "crossing":{"time":1772670029400,"latitude":40,"longitude":116,"estimated":true}}
            """
        #expect(try AlarmBody(json: JSONReader.value(of: Array(text.utf8))).point.accuracy == tenths)
    }
}
