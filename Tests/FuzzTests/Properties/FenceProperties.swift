import Geofencing
import JSON
import TrackFiles
import TrackModel

@testable import FenceFiles

/// Files of fences: GeoJSON, GPX, KML, the binary geometries of a GeoPackage, and the condition that chooses features.
enum FenceProperties {
    private static let time = Timestamp(milliseconds: 1_795_000_000_000)

    private static let limits = {
        var limits = FenceFileLimits()
        (limits.features, limits.featureBytes, limits.values, limits.vertices) = (100, 2048, 900, 1000)
        return limits
    }()

    // MARK: Files of text

    @Sendable static func checkFile(_ input: [UInt8]) throws {
        let features = try features(of: input)
        var vertices = 0
        for (index, outcome) in features.enumerated() {
            switch outcome {
            case .feature(let feature):
                try require(feature.number > 0 && feature.number <= index + 1, "feature \(index) is \(feature.number)")
                try require(!feature.geometry.parts.isEmpty, "a feature without a place")
                vertices += feature.geometry.vertexCount
            case .refused(let refused): try require(!refused.reason.isEmpty, "a feature is refused without a reason")
            }
        }
        try require(features.count <= limits.features, "more features than allowed")
        // A place has two numbers and a sign between them.
        try require(vertices * 3 <= input.count, "\(vertices) vertices of \(input.count) bytes")
        try checkImport(of: features)
    }

    /// What a file gives before it ends or is refused.
    private static func features(of input: [UInt8]) throws(Violation) -> [FileFeature] {
        var features: [FileFeature] = []
        do throws(FenceFileError) {
            var reader = try FileFeatures(ByteSource(bytes: input), limits: limits)
            while let feature = try reader.next() { features.append(feature) }
        } catch {
            try require(!error.description.isEmpty, "a file is refused without a reason")
        }
        return features
    }

    /// A second import of the same features changes nothing, and fences come back from what is written of them.
    private static func checkImport(of features: [FileFeature]) throws {
        var options = ImportOptions(file: "f")
        (options.buffer, options.limits) = (25, limits)
        guard let plan = try self.plan(features, options, existing: []) else { return }
        try require(plan.updates.isEmpty && plan.removals.isEmpty, "an import into nothing changes fences")
        let fences = try plan.additions.enumerated().map { try Fence(id: Int32($0.offset + 1), $0.element, at: time) }
        guard let again = try self.plan(features, options, existing: fences) else {
            throw Violation(description: "a second import of the same file is refused")
        }
        try require(again.additions.isEmpty, "a second import makes \(again.additions.count) fences")
        try require(again.updates.isEmpty, "a second import changes \(again.updates.count) fences")
        try require(again.removals.isEmpty, "a second import removes fences")
        try require(again.unchanged == fences.count, "a second import finds \(again.unchanged) of \(fences.count)")
        for fence in fences { try checkWriter(of: fence) }
    }

    private static func plan(
        _ features: [FileFeature], _ options: ImportOptions, existing: [Fence]
    ) throws(Violation) -> ImportPlan? {
        do throws(FenceFileError) {
            var importer = FenceImport(options, existing: existing, at: time)
            for feature in features { try importer.add(feature) }
            return try importer.finished()
        } catch {
            try require(!error.description.isEmpty, "an import is refused without a reason")
            return nil
        }
    }

    private static func checkWriter(of fence: Fence) throws(Violation) {
        let written = FenceGeoJSON.collection(of: [fence])
        let text = String(decoding: written, as: UTF8.self)
        var features: [FileFeature] = []
        do throws(FenceFileError) {
            var reader = GeoJSONFeatures(ByteSource(bytes: written))
            while let feature = try reader.next() { features.append(feature) }
        } catch {
            throw Violation(description: "what was written is refused: \(error): \(text)")
        }
        let plan = try self.plan(features, ImportOptions(file: "g"), existing: [])
        guard let plan, plan.additions.count == 1, var read = plan.additions.first else {
            throw Violation(description: "what was written is no fence: \(plan?.refusals ?? []): \(text)")
        }
        var given = fence.definition
        (read.origin, given.origin) = (nil, nil)
        try require(read == given, "a fence changes on its way: \(text)")
    }

    // MARK: Binary geometries

    /// The first byte chooses: with the header of a GeoPackage or without, and where the bytes are cut off once more.
    @Sendable static func checkGeometry(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let choice = reader.byte()
        let bytes = Array(reader.rest)
        guard let geometry = try geometry(bytes, isPackaged: choice & 1 == 1) else { return }
        try require(
            geometry.vertexCount * 16 <= bytes.count, "\(geometry.vertexCount) vertices of \(bytes.count) bytes")
        // A part has a header of five bytes.
        try require(geometry.parts.count * 5 <= bytes.count, "\(geometry.parts.count) parts of \(bytes.count) bytes")
        for part in geometry.parts {
            if case .polygon(let polygons) = part {
                try require(!polygons.isEmpty && !polygons.contains(where: \.isEmpty), "a polygon without a ring")
            }
        }
        let cut = Array(bytes.prefix(bytes.count * Int(choice >> 1) / 128))
        try require(try self.geometry(cut, isPackaged: choice & 1 == 1) == nil, "a part of a geometry is one")
        try require(try self.geometry(bytes + [0], isPackaged: choice & 1 == 1) == nil, "a geometry and a byte is one")
    }

    /// Nil when the bytes were refused, with a reason.
    private static func geometry(_ bytes: [UInt8], isPackaged: Bool) throws(Violation) -> FeatureGeometry? {
        do throws(FenceFileError) {
            return isPackaged ? try GeoPackageGeometry(bytes).geometry : try WKBReader.geometry(bytes)
        } catch {
            try require(!error.description.isEmpty, "a geometry is refused without a reason")
            return nil
        }
    }

    // MARK: Conditions

    private static let attributes: [String: JSONValue] = [
        "name": "Depot_1", "kind": "yard", "area": 12.5, "floor": 3, "note": .null, "open": true, "名称": "仓库",
        "built": "2026-03-05", "big": 9_007_199_254_740_993, "list": [1, 2], "a": "x", "A": "y",
    ]

    private enum Answer: Hashable {
        case truth(Bool?)
        case refused

        var negated: Answer {
            switch self {
            case .truth(let truth): .truth(truth.map { !$0 })
            case .refused: .refused
            }
        }
    }

    @Sendable static func checkCondition(_ input: [UInt8]) throws {
        guard let text = String(validating: input, as: UTF8.self), let clause = try clause(text) else { return }
        try require(text.utf8.count <= WhereClause.mostBytes, "a clause of \(text.utf8.count) bytes")
        let length = text.unicodeScalars.count
        for column in clause.columns {
            try require((1...length).contains(column.position), "a column at \(column.position) of \(length)")
        }
        let answer = try answer(clause)
        // These may be refused for their length or depth alone.
        for (changed, expected) in [
            (" \(text)\n", answer), ("(\(text))", answer), ("(\(text)) OR 1=2", answer), ("1=1 AND (\(text))", answer),
            ("NOT (\(text))", answer.negated),
        ] {
            guard let other = try self.clause(changed) else { continue }
            let found = try self.answer(other)
            try require(found == expected, "\(text): \(answer), and \(changed): \(found)")
        }
    }

    private static func clause(_ text: String) throws(Violation) -> WhereClause? {
        do throws(FenceFileError) {
            return try WhereClause(text)
        } catch {
            try require(error.description.contains("where clause"), "an error that names no clause: \(error)")
            return nil
        }
    }

    private static func answer(_ clause: WhereClause) throws(Violation) -> Answer {
        do throws(FenceFileError) {
            return .truth(try clause.truth(of: attributes))
        } catch {
            try require(!error.description.isEmpty, "values are refused without a reason")
            return .refused
        }
    }
}
