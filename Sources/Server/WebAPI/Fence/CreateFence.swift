import Geofencing
import JSON
import TrackModel
import TrackStore

extension FenceEndpoints {
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
    static func checkPrivateFences(_ watch: FenceWatch, _ call: APICall, _ store: any FenceStore) async throws {
        guard !watch.isEveryone, watch.entities.count == 1, let name = watch.entities.first?.text else { return }
        let (total, _) = try await store.fences(
            in: call.service, matching: FenceFilter(watch: .only(name)), page: Page(offset: 0, limit: 0))
        guard total < FenceLimits.mostPrivate else {
            throw APIFailure(
                .tooManyFences,
                "monitored_person has \(total) fences of its own, and \(FenceLimits.mostPrivate) are the most")
        }
    }
}
