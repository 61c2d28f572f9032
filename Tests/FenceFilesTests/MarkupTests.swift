import Geodesy
import Geofencing
import JSON
import Testing
import TrackFiles
import TrackModel

@testable import FenceFiles

@Suite struct MarkupTests {
    private func read(_ text: String, _ limits: FenceFileLimits = .init()) throws -> [FileFeature] {
        try all(FileFeatures(source(text), limits: limits))
    }

    @Test func routesTracksAndWaypointsAreReadFromGPX() throws {
        let features = try read(
            """
            <?xml version="1.0"?><gpx><metadata><name>file</name></metadata>
            <wpt lat="1" lon="2"><name>Gate &amp; more</name></wpt>
            <rte><name> Tour </name><rtept lat="40" lon="116"><name>no</name></rtept><rtept lat="40.5" lon="116.5"/></rte>
            <trk><desc>d</desc><trkseg><trkpt lat="1" lon="2"/><trkpt lat="3" lon="4"><ele>5</ele></trkpt></trkseg>
            <trkseg><trkpt lat="3" lon="4"/><trkpt lat="5" lon="6"/></trkseg><trkseg/><trkseg><trkpt lat="7" lon="8"/><trkpt lat="9" lon="9"/></trkseg></trk>
            <rte><name>empty</name></rte><rte><rtept lat="x" lon="1"/><rtept lat="1" lon="1"/></rte></gpx>
            """)
        #expect(
            features.map { $0.feature?.geometry.parts } == [
                [.point(Degrees(latitude: 1, longitude: 2))], [.line(degrees([(40, 116), (40.5, 116.5)]))],
                [.line(degrees([(1, 2), (3, 4), (5, 6)])), .line(degrees([(7, 8), (9, 9)]))], nil, nil,
            ])
        #expect(features[0].feature?.properties == ["name": "Gate & more"])
        #expect(features[1].feature?.properties == ["name": "Tour"])
        #expect(features[2].feature?.properties == ["desc": "d"])
        #expect(features[3].reason == "feature 4: it has no geometry: a fence needs a place")
        #expect(features[4].reason == "feature 5: 'x, 1' is no place: two numbers are needed")
        var options = ImportOptions(file: "tour.gpx")
        options.buffer = 50
        var importer = FenceImport(options, existing: [], at: time(0))
        try importer.add(features[1])
        #expect(
            try importer.finished().additions.first?.shape
                == ShapeDraft(.corridor(degrees([(40, 116), (40.5, 116.5)]), offset: 50)))
    }

    @Test func placemarksAreReadFromKML() throws {
        let features = try read(
            """
            <kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>doc</name><Folder><Placemark id="p1"><name><![CDATA[Yard]]></name>
            <ExtendedData><Data name="radius"><value>70</value></Data><SchemaData><SimpleData name="kind">gate</SimpleData></SchemaData></ExtendedData>
            <Point><coordinates> 116.5,40.25,12 </coordinates></Point></Placemark>
            <Placemark><LineString><coordinates>1,2 3,4
            5,6,7</coordinates></LineString></Placemark></Folder>
            <Placemark><Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 9,0 9,9 0,0</coordinates></LinearRing></outerBoundaryIs>
            <innerBoundaryIs><LinearRing><coordinates>5,1 6,1 6,2 5,1</coordinates></LinearRing></innerBoundaryIs></Polygon></Placemark>
            <Placemark><MultiGeometry><Point><coordinates>1,2</coordinates></Point><LinearRing><coordinates>0,0 9,0 9,9 0,0</coordinates></LinearRing>
            <LineString><coordinates>1,2 3,4</coordinates></LineString></MultiGeometry></Placemark>
            <Placemark><Point><coordinates>1,2 3,4</coordinates></Point></Placemark><Placemark><Point><coordinates>1;2</coordinates></Point></Placemark>
            <Placemark><Polygon/></Placemark></Document></kml>
            """)
        let ring = degrees([(0, 0), (0, 9), (9, 9)])
        #expect(
            features.map { $0.feature?.geometry.parts } == [
                [.point(Degrees(latitude: 40.25, longitude: 116.5))], [.line(degrees([(2, 1), (4, 3), (6, 5)]))],
                [.polygon([[ring, degrees([(1, 5), (1, 6), (2, 6)])]])],
                [.point(Degrees(latitude: 2, longitude: 1)), .polygon([[ring]]), .line(degrees([(2, 1), (4, 3)]))], nil,
                nil, nil,
            ])
        #expect(features[0].feature?.id == "p1")
        #expect(features[0].feature?.properties == ["name": "Yard", "radius": "70", "kind": "gate"])
        #expect(
            features[4].reason.contains("its point has 2 places") && features[5].reason.contains("\"1;2\" is no place"))
        #expect(features[6].reason.contains("0 outer boundaries"))
    }

    @Test(
        arguments: [
            ("0,0 0,10 10,10 10,0 0,0", 4), ("0, 0 0, 10 10, 10 10, 0 0, 0", 4), ("0 ,0 0 ,10 10 ,10", 3),
            ("\n0,0,5\t0,10,5\r\n10,10,5\n", 3), ("0 , 0 , 5 0 , 10 , 5 10,10", 3), ("0,0,NaN 0,10, 10,10", nil),
            // Eight numbers may be four places, or two with heights and a rest.
            ("0,0,0,0,10,0,10,10", nil), ("0,0,0,10,0,0 10,10,0", nil), ("0,0 0;10 10,10", nil), ("0,0 0 10,10", nil),
            ("0,0 0x1,10 10,10", nil), ("0,0 ٣,10 10,10", nil), ("0,0 1_0,10 10,10", nil), ("0,0 a10,10 10,10", nil),
            ("0,0 1e1,10 10,10", 3), ("0,0 0,10 10,10,", 3), ("0,0,\u{a0}5 0,10 10,10", nil),
        ] as [(String, Int?)])
    func placesOfKMLAreReadRightOrNotAtAll(coordinates: String, vertices: Int?) throws {
        let ring = "<LinearRing><coordinates>\(coordinates)</coordinates></LinearRing>"
        let features = try read(
            "<kml><Placemark><name>A</name><Polygon><outerBoundaryIs>\(ring)</outerBoundaryIs></Polygon></Placemark></kml>"
        )
        #expect(features.count == 1 && features[0].feature?.geometry.vertexCount == vertices, "\(features)")
        guard vertices == nil, case .refused(let refused) = features[0] else { return }
        #expect(refused.properties == ["name": "A"] && refused.reason.contains("\""), "\(refused)")
    }

    @Test func longTextsLoseNoPlace() throws {
        let places = (0..<20_000).map { "\(Double($0) / 1000),\(Double($0 % 90))" }
        let text = { (coordinates: String) in
            "<kml><Placemark><LineString><coordinates>\(coordinates)</coordinates></LineString></Placemark></kml>"
        }
        let read = try read(text(places.joined(separator: " ")))
        let wanted = (0..<20_000).map { Degrees(latitude: Double($0 % 90), longitude: Double($0) / 1000) }
        #expect(read.first?.feature?.geometry.parts == [.line(wanted)])
        // What the scanner cuts is refused, not shortened.
        let cut = try self.read(text("<![CDATA[\(places.joined(separator: " "))]]>"))
        #expect(cut.first?.reason.contains("more than 4 KiB") == true, "\(cut)")
        var limits = FenceFileLimits()
        limits.values = 3000
        #expect(
            try self.read(text(places.joined(separator: "\n")), limits).first?.reason.contains("more than 1000 places")
                == true)
        limits.features = 1
        let many = problem { try self.read("<gpx><wpt lat=\"1\" lon=\"1\"/><wpt lat=\"1\" lon=\"1\"/></gpx>", limits) }
        #expect(many.contains("more than 1 features"), "\(many)")
    }

    @Test(arguments: [
        ("", "it is empty"), ("PK\u{3}", "unpack it first"), ("abc", "neither GeoJSON"),
        ("<html></html>", "its first element is 'html'"),
        ("<gpx>", "it ends within an element"), ("<gpx></kml>", "ends what has not begun"),
        ("<gpx/><gpx/>", "a second element"),
        (String(repeating: "<gpx>", count: 70), "more than 64 deep"), ("<!-- x -->", "it ends within"),
        ("{", "no JSON"),
    ]) func aBrokenFileIsExplained(text: String, reason: String) {
        let found = problem { try read(text) }
        #expect(found.contains(reason), "\(found)")
    }
}
