import FenceFiles
import Geodesy
import Geofencing
import JSON
import TrackModel
import TrackStore

/// Makes the shape of a fence of a call's parameters.
enum FenceShapes {
    enum Outcome {
        /// With nothing in it but a shape.
        case found(FenceDefinition)
        /// Several districts are meant, perhaps: their full names.
        case ambiguous([String])

        /// The answer to an ambiguous name; of a shape, nothing.
        var answer: Answer {
            guard case .ambiguous(let names) = self else { return .done }
            return Answer(.ambiguousDistrict) { answer in
                answer.array("district_list") { list in
                    for name in names { list.string(name) }
                }
            }
        }
    }

    /// Of a new fence. `line`: that of a polyline.
    static func new(
        _ kind: FenceEndpoints.FenceKind, _ line: PolylineThinning?, _ call: APICall, _ store: any DistrictStore
    ) async throws -> Outcome {
        switch kind {
        case .circle: .found(FenceDefinition(try call.circle(changing: nil)))
        case .polygon: .found(definition(of: try call.polygon()))
        case .polyline: .found(FenceDefinition(try call.polyline(line, changing: nil)))
        case .district: try await district(try call.parameters.required("keyword"), call, store)
        }
    }

    /// Puts the shape that a call gives in the place of a fence's present one; without one nothing changes. Of districts,
    /// ``district(_:_:_:)`` tells. `line`: that of a polyline.
    static func change(
        _ kind: FenceEndpoints.FenceKind, _ line: PolylineThinning?, _ call: APICall,
        _ definition: inout FenceDefinition
    ) throws(APIFailure) {
        switch kind {
        case .circle:
            guard ["longitude", "latitude", "radius"].contains(where: { call.parameters[$0] != nil }) else { return }
            definition.shape = try call.circle(changing: definition.shape)
        case .polygon:
            guard call.parameters["vertexes"] != nil else { return }
            var new = Self.definition(of: try call.polygon())
            // What the caller cannot give stays: hours, and metres around the outline.
            if !new.isWithoutArea, !definition.isWithoutArea {
                (new.validity, new.shape.buffer) = (definition.validity, definition.shape.buffer)
            }
            (definition.shape, definition.validity) = (new.shape, new.validity)
        case .polyline:
            guard ["vertexes", "offset"].contains(where: { call.parameters[$0] != nil }) else { return }
            definition.shape = try call.polyline(line, changing: definition.shape)
        case .district: return
        }
    }

    /// A polygon whose vertices are one place has no area, and clients make such fences: it is kept as a point, and never
    /// holds.
    private static func definition(of polygon: ShapeDraft) -> FenceDefinition {
        guard case .polygon(let parts) = polygon.outline, let ring = parts.first?.first, let place = ring.first,
            ring.allSatisfy({ $0 == place })
        else { return FenceDefinition(polygon) }
        var definition = FenceDefinition(ShapeDraft(.point(place), datum: polygon.datum, buffer: 0.001))
        var never = FenceValidity()
        never.through = Timestamp(milliseconds: 0)
        definition.validity = never
        return definition
    }

    /// The imported district that people call so.
    static func district(
        _ keyword: String, _ call: APICall, _ store: any DistrictStore
    ) async throws -> Outcome {
        guard keyword.utf8.count <= DistrictNames.mostBytes else {
            throw APIFailure(.parameter, "keyword has at most \(DistrictNames.mostBytes) bytes of UTF-8")
        }
        let known = try await call.districts.current(store)
        switch known.names.resolve(keyword) {
        case .ambiguous(let names): return .ambiguous(names)
        case .unknown:
            let hint =
                known.names.entries.isEmpty
                ? "the server has no districts: the operator imports them with saker-server district import"
                : "no imported district has this name"
            throw APIFailure(.parameter, "keyword: \(hint)")
        case .found(let number):
            guard let shape = try await store.districtShape(known.ids[number]) else {
                throw APIFailure(.parameter, "keyword: the district was removed just now")
            }
            var definition = FenceDefinition(shape)
            definition.district = known.names.fullName(of: number)
            return .found(definition)
        }
    }
}

extension FenceDefinition {
    /// A polygon whose vertices are one place: kept as a point that never counts.
    var isWithoutArea: Bool {
        guard case .point = shape.outline else { return false }
        return validity?.through?.milliseconds == 0
    }
}
