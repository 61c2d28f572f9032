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
