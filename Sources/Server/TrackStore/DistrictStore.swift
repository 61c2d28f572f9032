package import Geodesy

/// A district that is to be stored.
package struct NewDistrict: Hashable, Sendable {
    package var name: String
    /// Its place in the list with which it comes; nil: an outermost one.
    package var parent: Int?
    /// WGS 84, polygons.
    package var shape: ShapeDraft

    package init(name: String, parent: Int?, shape: ShapeDraft) {
        self.name = name
        self.parent = parent
        self.shape = shape
    }

    /// Why a list cannot be stored, a sentence; nil when it can.
    package static func problem(of list: [NewDistrict]) -> String? {
        for (index, district) in list.enumerated() {
            guard let parent = district.parent else { continue }
            guard list.indices.contains(parent), parent != index else {
                return "the district '\(district.name)' has the parent \(parent), which is not in its list"
            }
        }
        return nil
    }
}

/// The name of a stored district, without its outline.
package struct DistrictEntry: Hashable, Sendable {
    /// Never used again for another district.
    package var id: Int64
    package var name: String
    /// The id of another entry.
    package var parent: Int64?
    /// Where it was imported from.
    package var source: String

    package init(id: Int64, name: String, parent: Int64?, source: String) {
        self.id = id
        self.name = name
        self.parent = parent
        self.source = source
    }
}

/// The districts that the operator has imported, for all services. ``DistrictNames`` finds one by what people call it.
package protocol DistrictStore: Sendable {
    /// Puts districts in the place of all of the same source, in one transaction; none: the source is removed. A fence keeps
    /// the outline with which it was made.
    ///
    /// Throws `.failed` when a parent is not another district of the list.
    func replaceDistricts(of source: String, with districts: [NewDistrict]) async throws(TrackStoreError)
    /// All names in the order of their ids, and the number of this state of the list, which every import changes. `known`:
    /// the number of the state that the caller has; when it is the present one, `entries` is nil.
    func districts(unless known: Int64?) async throws(TrackStoreError) -> (version: Int64, entries: [DistrictEntry]?)
    /// The outline of a district; nil when it is not there any more.
    func districtShape(_ id: Int64) async throws(TrackStoreError) -> ShapeDraft?
}
