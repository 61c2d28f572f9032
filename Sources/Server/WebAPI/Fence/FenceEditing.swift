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
            call.charge(for: record.fence.definition, watching: change.watch)
            return Answer { answer in
                answer.member("fence_id", Int64(record.fence.id))
                if let line { write(line, to: &answer) }
                if let district = record.fence.definition.district { answer.member("district", district) }
            }
        }
    }

    private struct Change: Sendable {
        let fence: Int32
        let watch: FenceSubjects
        let newWatch: FenceSubjects?
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

    /// `fence/createcirclefence` and its like.
    static func create(_ kind: FenceKind) -> Endpoint {
        Endpoint(
            "fence/create\(kind.rawValue)fence", .post, commonParameters + kind.parameters, about: \.monitoredPerson
        ) { (call, store: any FenceStore & DistrictStore) in
            let line = kind == .polyline ? try call.thinnedLine() : nil
            let outline = try await FenceShapes.new(kind, line, call, store)
            guard case .found(var definition) = outline else { return outline.answer }
            try apply(call, to: &definition)
            try await checkPrivateFences(definition.watch, call, store)
            let record = try await store.createFence(
                definition, by: call.caller.entity, in: call.service, at: call.now)
            call.charge(for: definition)
            return Answer { answer in
                answer.member("fence_id", Int64(record.fence.id))
                if let line { write(line, to: &answer) }
                if let district = definition.district { answer.member("district", district) }
            }
        }
    }

    /// How far off a line is whose vertices were too many; of another one, nothing.
    static func write(_ thinning: PolylineThinning, to answer: inout JSONWriter) {
        guard thinning.line.count < thinning.given else { return }
        answer.object("thinned") {
            $0.member("given", Int64(thinning.given))
            $0.member("vertexes", Int64(thinning.line.count))
            // Centimetres, and never less than it is.
            $0.member("deviation", (thinning.deviation * 100).rounded(.up) / 100)
        }
    }

    /// Sets what the common parameters give.
    static func apply(_ call: APICall, to definition: inout FenceDefinition) throws(APIFailure) {
        if let name = call.parameters["fence_name"] {
            try call.checkName(
                name, "fence_name", maximumBytes: FenceDefinition.mostNameBytes, former: definition.name)
            definition.name = name
        }
        if let denoise = try call.parameters.double("denoise") {
            guard let metres = Int32(exactly: denoise.rounded()), FenceDefinition.denoises.contains(metres) else {
                throw APIFailure(.parameter, "denoise is 0, which is off, to 1000000 metres")
            }
            definition.denoise = metres
        }
        if let watch = try call.watch() { definition.watch = watch }
    }

    /// The published API has at most 100 fences that watch one entity alone.
    static func checkPrivateFences(_ watch: FenceSubjects, _ call: APICall, _ store: any FenceStore) async throws {
        guard !watch.isEveryone, watch.entities.count == 1, let name = watch.entities.first?.text else { return }
        let (total, _) = try await store.fences(
            in: call.service, matching: FenceFilter(watch: .only(name)), page: Page(offset: 0, limit: 0))
        guard total < FenceLimits.mostPrivate else {
            throw APIFailure(
                .tooManyFences,
                "monitored_person has \(total) fences of its own, and \(FenceLimits.mostPrivate) are the most")
        }
    }

    /// `fence/delete`: by numbers, by the one entity that they watch, or both.
    static let delete = Endpoint(
        "fence/delete", .post, ["fence_ids", "monitored_person"],
        reading: { call, store in try await Deletion(call, store) }, about: \.subject
    ) { (deletion, call, store: any FenceStore) in
        let deleted = try await store.deleteFences(matching: deletion.filter, in: call.service, at: call.now)
        if !deleted.isEmpty {
            call.noteRemoval(
                "fences are removed", of: deleted.prefix(20).map { "\($0)" }.joined(separator: ","), deleted.count)
        }
        return Answer { answer in
            answer.array("fence_ids") { list in
                for id in deleted { list.integer(Int64(id)) }
            }
        }
    }

    private struct Deletion: Sendable {
        let filter: FenceFilter
        /// A fence that watches others too is theirs as well.
        let subject: CallSubject

        init(_ call: APICall, _ store: any FenceStore) async throws {
            let name = call.parameters["monitored_person"] == nil ? nil : try call.person()
            var (wanted, subject): (FenceFilter, CallSubject)
            switch (try call.fenceIDs(), name) {
            case (nil, nil): throw APIFailure(.parameter, "give fence_ids, monitored_person, or both")
            case (nil, let name?):
                (wanted, subject) = (FenceFilter(watch: .only(name)), call.monitoredPerson)
            case (let ids?, nil):
                (wanted, subject) = (FenceFilter(fences: ids), .wholeService)
            case (let ids?, let name?):
                wanted = FenceFilter(fences: ids, watch: .naming(name))
                try await checkMonitored(ids, wanted, call, store)
                // Not read: a fence that cannot be read can be deleted.
                let alone = FenceFilter(fences: ids, watch: .only(name))
                let own = try await store.fences(in: call.service, matching: alone, page: Page(offset: 0, limit: 0))
                subject = own.total == Set(ids).count ? call.monitoredPerson : .wholeService
            }
            if subject != .wholeService, let others = try await othersFences(wanted, call, store) { subject = others }
            // Also those that the operator makes in this moment stay.
            if let vehicle = call.caller.limitedVehicle { wanted.maker = .vehicle(vehicle) }
            (filter, self.subject) = (wanted, subject)
        }
    }

    /// The fences that match and that the asking vehicle did not make; nil when there are none, or when a key asks.
    static func othersFences(
        _ filter: FenceFilter, _ call: APICall, _ store: any FenceStore
    ) async throws -> CallSubject? {
        guard let vehicle = call.caller.limitedVehicle else { return nil }
        var filter = filter
        filter.maker = .otherThan(vehicle)
        let found = try await store.readableFences(
            in: call.service, matching: filter, page: Page(offset: 0, limit: 1))
        guard let first = found.fences.first?.fence.id ?? found.unreadable.first?.fence else { return nil }
        return .fencesOfOthers(first: first, count: found.total)
    }

    /// Each of the fences has to match, whether it can be read or not.
    static func checkMonitored(
        _ ids: [Int32], _ filter: FenceFilter, _ call: APICall, _ store: any FenceStore
    ) async throws {
        let found = try await store.readableFences(
            in: call.service, matching: filter, page: Page(offset: 0, limit: ids.count))
        let numbers = Set(found.fences.map(\.fence.id) + found.unreadable.map(\.fence))
        if let missing = ids.first(where: { !numbers.contains($0) }) {
            throw APIFailure(.notMonitored, "fence_ids: \(missing)")
        }
    }
}
