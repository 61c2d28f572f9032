internal import Geodesy
internal import JSON
internal import TrackFiles

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
