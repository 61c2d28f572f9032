internal import Geodesy
internal import JSON
package import TrackFiles

/// The features of a GPX 1.x file (routes, tracks and waypoints) or of a KML 2.x file (placemarks), one after the other.
///
/// A route or a track is a line, which a buffer makes a corridor; its segments are lines of one feature. GPX has no ids.
package struct MarkupFeatures: FeatureReader {
    private static let deepest = 64
    /// A coordinate text that is not cut is shorter than this, because the scanner hands long texts on in pieces.
    private static let cutBytes = 4096

    private enum Format {
        case gpx, kml
    }

    private var scanner: MarkupScanner
    private let limits: FenceFileLimits
    private var format: Format?
    private var open: [String] = []
    private var draft: MarkupDraft?
    private var number = 0

    package init(_ source: ByteSource, limits: FenceFileLimits = FenceFileLimits()) {
        scanner = MarkupScanner(source, keepsLongTexts: true)
        self.limits = limits
    }

    package mutating func next() throws(FenceFileError) -> FileFeature? {
        while let token = try token() {
            switch token {
            case .start(let name, let attributes, let isEmpty):
                try begin(name, attributes)
                if isEmpty, let done = try end(name) { return done }
            case .end(let name):
                if let done = try end(name) { return done }
            case .text(let text): add(text)
            }
        }
        guard format != nil, open.isEmpty else { throw error("no XML: it ends within an element") }
        return nil
    }

    private func error(_ detail: String) -> FenceFileError { FenceFileError("line \(scanner.line): \(detail)") }

    private mutating func token() throws(FenceFileError) -> MarkupScanner.Token? {
        do throws(TrackFileError) {
            return try scanner.next()
        } catch {
            throw FenceFileError(error)
        }
    }

    private mutating func begin(_ name: String, _ attributes: [String: String]) throws(FenceFileError) {
        guard open.count < Self.deepest else { throw error("no XML: elements more than \(Self.deepest) deep") }
        if open.isEmpty {
            guard format == nil else { throw error("no XML: a second element follows the first") }
            switch name {
            case "gpx": format = .gpx
            case "kml": format = .kml
            default: throw error("neither GPX nor KML: its first element is \(FenceFileError.quoted(name))")
            }
        }
        open.append(name)
        if draft == nil {
            let isFeature = format == .gpx ? ["rte", "trk", "wpt"].contains(name) : name == "Placemark"
            guard isFeature else { return }
            number += 1
            guard number <= limits.features else {
                throw error("more than \(limits.features) features: take the file apart")
            }
            draft = MarkupDraft(
                number: number, depth: open.count, id: format == .kml ? attributes["id"] : nil,
                mostVertices: limits.values / 3)
            if name == "wpt" { draft?.addPoint(attributes) }
            return
        }
        switch name {
        case "trkseg", "rtept", "trkpt": draft?.beginPoint(name, attributes)
        case "Polygon", "LinearRing", "LineString", "Point", "innerBoundaryIs": draft?.begin(name)
        case "Data", "SimpleData": draft?.key = attributes["name"]
        default: break
        }
    }

    private mutating func add(_ text: String) {
        guard let draft, let name = open.last else { return }
        switch name {
        case "coordinates":
            if text.utf8.count >= Self.cutBytes {
                self.draft?.refuse(
                    "its coordinates are in one piece of more than 4 KiB: put white space between the places")
            } else {
                self.draft?.add(coordinates: text)
            }
        case "name", "desc", "description", "type":
            if open.count == draft.depth + 1 { self.draft?.add(text, to: name) }
        case "value", "SimpleData":
            if let key = draft.key { self.draft?.add(text, to: key) }
        default: break
        }
    }

    private mutating func end(_ name: String) throws(FenceFileError) -> FileFeature? {
        guard open.popLast() == name else { throw error("no XML: </\(name)> ends what has not begun") }
        guard let draft, open.count < draft.depth else {
            self.draft?.end(name)
            return nil
        }
        self.draft = nil
        return draft.outcome
    }
}

/// A feature of a GPX or KML file while it is read.
struct MarkupDraft {
    private static let mostTextBytes = 4096
    private static let mostTexts = 256

    let number: Int
    /// Elements that are open around its contents, its own with them.
    let depth: Int
    let id: String?
    private let mostVertices: Int
    /// The name of the attribute whose value is read.
    var key: String?
    private var texts: [String: String] = [:]
    private var parts: [FeatureGeometry.Part] = []
    private var lines: [[Degrees]] = []
    /// The rings of a polygon that is open.
    private var rings: [[Degrees]]?
    private var holes: [[Degrees]] = []
    private var isHole = false
    private var places: [Degrees] = []
    /// Of the element `coordinates` that is read.
    private var tuples = PlaceTuples()
    private var vertices = 0
    private var reason: String?

    init(number: Int, depth: Int, id: String?, mostVertices: Int) {
        self.number = number
        self.depth = depth
        self.id = id
        self.mostVertices = mostVertices
    }

    /// The first reason counts.
    mutating func refuse(_ reason: String) {
        self.reason = self.reason ?? reason
        (places, lines, parts) = ([], [], [])
    }

    // MARK: GPX

    mutating func addPoint(_ attributes: [String: String]) {
        let (latitude, longitude) = (attributes["lat"] ?? "", attributes["lon"] ?? "")
        guard let place = Self.place(latitude: latitude, longitude: longitude) else {
            return refuse(
                "lat=\(FenceFileError.quoted(latitude)) lon=\(FenceFileError.quoted(longitude)): numbers are needed")
        }
        parts.append(.point(place))
    }

    mutating func beginPoint(_ name: String, _ attributes: [String: String]) {
        guard name != "trkseg" else {
            if !places.isEmpty { lines.append(places) }
            places = []
            return
        }
        let (latitude, longitude) = (attributes["lat"] ?? "", attributes["lon"] ?? "")
        add(Self.place(latitude: latitude, longitude: longitude), "\(latitude), \(longitude)")
    }

    // MARK: KML

    mutating func begin(_ name: String) {
        switch name {
        case "Polygon": (rings, holes) = ([], [])
        case "innerBoundaryIs": isHole = true
        default: places = []
        }
    }

    /// A piece of the element `coordinates`. A height is passed over.
    mutating func add(coordinates text: String) {
        guard reason == nil else { return }
        do throws(PlaceTuples.Failure) {
            for place in try tuples.add(text) { add(place) }
        } catch {
            refuse(error.reason)
        }
    }

    private mutating func endCoordinates() {
        defer { tuples = PlaceTuples() }
        guard reason == nil else { return }
        do throws(PlaceTuples.Failure) {
            if let place = try tuples.finish() { add(place) }
        } catch {
            refuse(error.reason)
        }
    }

    private mutating func add(_ place: PlaceTuples.Place) {
        add(
            Self.place(latitude: place.latitude, longitude: place.longitude), "\(place.longitude),\(place.latitude)")
    }

    mutating func end(_ name: String) {
        if name == "coordinates" { endCoordinates() }
        if name == "Data" || name == "SimpleData" { key = nil }
        guard reason == nil else { return }
        switch name {
        case "Point":
            if places.count == 1 {
                parts.append(.point(places[0]))
            } else {
                refuse("its point has \(places.count) places")
            }
            places = []
        case "LineString":
            if !places.isEmpty { lines.append(places) }
            places = []
        case "LinearRing":
            let ring = FeatureGeometry.opened(places)
            places = []
            if rings == nil {
                parts.append(.polygon([[ring]]))
            } else if isHole {
                holes.append(ring)
            } else {
                rings?.append(ring)
            }
        case "innerBoundaryIs": isHole = false
        case "Polygon":
            guard let shells = rings, shells.count == 1 else {
                return refuse("its polygon has \(rings?.count ?? 0) outer boundaries, and one is needed")
            }
            parts.append(.polygon([shells + holes]))
            (rings, holes) = (nil, [])
        default: break
        }
    }

    // MARK: Both

    mutating func add(_ text: String, to name: String) {
        guard texts.count < Self.mostTexts || texts[name] != nil else { return }
        guard (texts[name]?.utf8.count ?? 0) + text.utf8.count <= Self.mostTextBytes else { return }
        texts[name, default: ""] += text
    }

    private mutating func add(_ place: Degrees?, _ text: @autoclosure () -> some StringProtocol) {
        guard reason == nil else { return }
        guard let place else {
            return refuse("\(FenceFileError.quoted(text())) is no place: two numbers are needed")
        }
        vertices += 1
        guard vertices <= mostVertices else {
            return refuse("it has more than \(mostVertices) places: give it fewer")
        }
        places.append(place)
    }

    private static func place(latitude: some StringProtocol, longitude: some StringProtocol) -> Degrees? {
        guard let latitude = FileNumber.value(latitude), let longitude = FileNumber.value(longitude) else { return nil }
        return Degrees(latitude: latitude, longitude: longitude)
    }

    var outcome: FileFeature {
        var geometry = parts
        let open = places.isEmpty ? lines : lines + [places]
        geometry += FeatureGeometry.joined(open)
        let named = texts.mapValues { JSONValue.string($0.trimmedOfSpace) }.filter { $0.value != "" }
        if let reason = reason ?? (geometry.isEmpty ? "it has no geometry: a fence needs a place" : nil) {
            return .refused(RefusedFeature(number: number, id: id, reason: reason, properties: named))
        }
        return .feature(FenceFeature(number: number, id: id, geometry: FeatureGeometry(geometry), properties: named))
    }
}
