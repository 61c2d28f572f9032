package import FenceFiles
import GeoPackageFile
import Geofencing
import TrackModel
import TrackStore

// Fences of files, with every rule that a fence can have: the Web API knows a part of them.
extension ServiceAdministration {
    /// What an import does with the fences that are there.
    package struct FenceImportOptions: Sendable {
        /// The file: GeoJSON, GeoPackage, GPX or KML.
        package var path: String
        /// The name under which a second import finds the fences of the first; nil: that of the file.
        package var name: String?
        /// Entities that all fences of the file watch; nil: those that the file names, nobody when it names none.
        package var watch: [String]?
        /// All fences of the file watch every entity.
        package var watchesEveryone = false
        /// Nothing is stored.
        package var isTrial = false
        /// Which features become fences, and how; name and settings are those of the wish, the layer is the wanted one.
        package var options = ImportOptions(file: "")

        package init(path: String) { self.path = path }
    }

    /// What an import has done, or would do.
    package struct FenceImportOutcome: Hashable, Sendable {
        package var added = 0
        package var changed = 0
        package var unchanged = 0
        package var removed = 0
        /// Features that the condition, or the area, does not choose.
        package var notChosen = 0
        package var outside = 0
        /// Fences whose features may be among the refused ones.
        package var held = 0
        /// Features that cannot be fences, the first of them with their reasons.
        package var refused = 0
        package var refusals: [String] = []
        /// Fences that nobody is watched by.
        package var idle = 0
    }

    /// Makes, changes and removes the fences that came from a file, so that they are what the file says. Fences of other files
    /// and of the Web API stay as they are.
    ///
    /// Each fence is a change of its own: when one is refused, those before it stand, and the same import goes on later.
    package func importFences(
        _ wish: FenceImportOptions, into service: Int64
    ) async throws(ServerError) -> FenceImportOutcome {
        let id = try await known(service)
        let name = wish.name ?? String(wish.path.split(separator: "/").last ?? "")
        guard !name.isEmpty, name.utf8.count <= FenceOrigin.mostNameBytes else {
            throw ServerError(
                .usage,
                "'\(name.prefix(64))' is no name for the file: give one of 1 to \(FenceOrigin.mostNameBytes) bytes")
        }
        let present = try await records(of: service, FenceFilter(), limit: Int(Int32.max)).fences
        let wanted = Set((wish.watch ?? []).map { ExactName($0) })
        if let unknown = try await namesWithoutEntity(wanted, in: id).first {
            throw ServerError(
                .notFound,
                "service \(service) has no entity named '\(unknown.text.prefix(128))', which all fences shall watch; nothing is changed"
            )
        }
        var plan: ImportPlan
        do throws(FenceFileError) {
            plan = try Self.plan(wish, named: name, present.map(\.fence))
        } catch {
            throw ServerError(.file, "\(wish.path): \(error); nothing is changed")
        }
        let unknown = try await namesWithoutEntity(plan.watched, in: id)
        if !unknown.isEmpty {
            var wish = wish
            wish.options.unknownEntities = unknown
            do throws(FenceFileError) {
                plan = try Self.plan(wish, named: name, present.map(\.fence))
            } catch {
                throw ServerError(.file, "\(wish.path): \(error); nothing is changed")
            }
        }
        if !wish.isTrial {
            do throws(TrackStoreError) {
                try await write(plan, versions: Dictionary(present.map { ($0.fence.id, $0.version) }) { $1 }, into: id)
            } catch {
                throw ServerError(error)
            }
            acts.note(.fenceImport, in: id, about: name)
        }
        let written = plan.additions + plan.updates.map(\.fence.definition)
        return FenceImportOutcome(
            added: plan.additions.count, changed: plan.updates.count, unchanged: plan.unchanged,
            removed: plan.removals.count, notChosen: plan.notChosen, outside: plan.outside, held: plan.held,
            refused: plan.refused, refusals: plan.refusals.map(\.description),
            idle: written.count(where: \.watch.isNobody))
    }

    /// Those of the names that are no entity's.
    private func namesWithoutEntity(
        _ names: Set<ExactName>, in service: ServiceID
    ) async throws(ServerError) -> Set<ExactName> {
        var (unknown, rest) = (names, Array(names)[...])
        do throws(TrackStoreError) {
            while !rest.isEmpty {
                let some = rest.prefix(EntityFilter.maximumNames)
                rest = rest.dropFirst(some.count)
                var filter = EntityFilter()
                filter.names = some.map(\.text)
                let found = try await store.entities(
                    in: service, matching: filter, page: Page(offset: 0, limit: some.count))
                unknown.subtract(found.entities.map { ExactName($0.name) })
            }
        } catch {
            throw ServerError(error)
        }
        return unknown
    }

    private static func plan(
        _ wish: FenceImportOptions, named name: String, _ present: [Fence]
    ) throws(FenceFileError) -> ImportPlan {
        var source = try FeatureFile(path: wish.path, layer: wish.options.layer)
        var options = wish.options
        (options.file, options.layer) = (name, source.layer)
        // The Web API knows circles.
        options.makesCirclesOfPoints = true
        do throws(FenceError) {
            if wish.watchesEveryone { options.settings.watch = .everyone }
            if let names = wish.watch { options.settings.watch = try FenceSubjects(names) }
        } catch {
            throw FenceFileError(error.description)
        }
        var work = FenceImport(options, existing: present, at: now)
        try work.add(&source)
        return try work.finished()
    }

    private func write(
        _ plan: ImportPlan, versions: [Int32: Int64], into service: ServiceID
    ) async throws(TrackStoreError) {
        var writing = writing
        // First what is gone: a service has room for so many fences.
        var gone = plan.removals[...]
        while !gone.isEmpty {
            let some = gone.prefix(FenceRules.mostNumbers)
            _ = try await writing.step { () async throws(TrackStoreError) in
                try await store.deleteFences(
                    matching: FenceFilter(fences: Array(some)), in: service, at: SystemClock.now())
            }
            gone = gone.dropFirst(some.count)
        }
        for update in plan.updates {
            _ = try await writing.step { () async throws(TrackStoreError) in
                try await store.updateFence(
                    update.fence.id, to: update.fence.definition, expecting: versions[update.fence.id] ?? 0,
                    in: service,
                    at: SystemClock.now())
            }
        }
        for definition in plan.additions {
            _ = try await writing.step { () async throws(TrackStoreError) in
                try await store.createFence(definition, in: service, at: SystemClock.now())
            }
        }
    }
}
