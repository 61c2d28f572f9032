import Geofencing
import JSON
import TrackModel
import TrackStore

extension FenceEndpoints {
    /// `fence/updatecirclefence` and its like: only what is given changes.
    static func update(_ kind: FenceKind) -> Endpoint {
        Endpoint(
            "fence/update\(kind.rawValue)fence", .post, ["fence_id"] + commonParameters + kind.parameters,
            reading: { call, store in
                let record = try await fence(call, store)
                let found = FenceKind(record.fence.definition)
                guard found == kind else {
                    throw APIFailure(
                        .parameter, "fence_id \(record.fence.id) is a \(found.rawValue), and its kind cannot change")
                }
                return Change(
                    fence: record.fence.id, watch: record.fence.definition.watch, newWatch: try call.watch(),
                    ofOthers: try await othersFences(FenceFilter(fences: [record.fence.id]), call, store))
            }, about: \.subject
        ) { (change, call, store: any FenceStore & DistrictStore) in
            var outline: FenceDefinition?
            if kind == .district, let keyword = call.parameters["keyword"] {
                let outcome = try await FenceShapes.district(keyword, call, store)
                guard case .found(let found) = outcome else { return outcome.answer }
                outline = found
            }
            if let watch = change.newWatch, watch != change.watch { try await checkPrivateFences(watch, call, store) }
            let district = outline
            // Once, and not for each attempt at the edit.
            let line = kind == .polyline ? try call.thinnedLine() : nil
            let record = try await store.editFence(change.fence, in: call.service, at: call.now) {
                definition throws(TrackStoreError) in
                try refusing { () throws(APIFailure) in
                    var definition = definition
                    // The caller was judged by what the fence was.
                    guard FenceKind(definition) == kind, definition.watch == change.watch else {
                        throw APIFailure(.parameter, "the fence was changed meanwhile: send the call again")
                    }
                    if let district { (definition.shape, definition.district) = (district.shape, district.district) }
                    try FenceShapes.change(kind, line, call, &definition)
                    try apply(call, to: &definition)
                    return definition
                }
            }
            call.charge(for: record.fence.definition)
            return Answer { answer in
                answer.member("fence_id", Int64(record.fence.id))
                if let line { write(line, to: &answer) }
                if let district = record.fence.definition.district { answer.member("district", district) }
            }
        }
    }

    private struct Change: Sendable {
        let fence: Int32
        let watch: FenceWatch
        let newWatch: FenceWatch?
        let ofOthers: CallSubject?

        /// Whoever may change a fence may change it for those whom it watches, before and after.
        var subject: CallSubject {
            if let ofOthers { return ofOthers }
            guard let newWatch else { return watch.subject }
            return newWatch.subject == watch.subject ? watch.subject : .wholeService
        }
    }

    /// The store's word for a refusal that an edit makes.
    static func refusing<Value>(_ edit: () throws(APIFailure) -> Value) throws(TrackStoreError) -> Value {
        do throws(APIFailure) {
            return try edit()
        } catch {
            throw TrackStoreError(.refusedFence, error.detail)
        }
    }
}
