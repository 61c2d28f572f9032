import FenceFiles
package import Geodesy
package import Geofencing
import TrackModel
package import TrackStore

// Fences that an administrator makes, changes and deletes. The store has the rules, and tells judges and vehicles of each change, as
// for the calls of the Web API.
extension ServiceAdministration {
    /// Which fences of a service are meant; all conditions must hold.
    package struct FenceChoice: Sendable {
        /// Numbers and names; empty: any.
        package var fences: [String] = []
        package var group: String?
        /// Those that watch this entity, by name or with everyone.
        package var entity: String?
        /// Those of an import, and of a layer of its file.
        package var file: String?
        package var layer: String?

        package init() {}

        fileprivate var hasConditions: Bool { group != nil || entity != nil || file != nil || layer != nil }

        fileprivate func allows(_ definition: FenceDefinition) -> Bool {
            func isSame(_ wanted: String?, _ text: String?) -> Bool {
                guard let wanted else { return true }
                return text.map { ExactName($0) == ExactName(wanted) } ?? false
            }
            return isSame(group, definition.group) && (entity.map { definition.watch.contains($0) } ?? true)
                && isSame(file, definition.origin?.file) && isSame(layer, definition.origin?.layer)
        }
    }

    /// Makes a fence.
    package func addFence(
        _ definition: FenceDefinition, to service: Int64
    ) async throws(ServerError) -> FenceReport {
        let id = try await known(service)
        do throws(TrackStoreError) {
            let record = try await store.createFence(definition, in: id, at: Self.now)
            acts.note(.fenceAdd, in: id, about: "\(record.fence.id)")
            return FenceReport(record)
        } catch {
            throw ServerError(error)
        }
    }

    /// The one fence that a number or a name means.
    package func fence(named text: String, of service: Int64) async throws(ServerError) -> FenceReport {
        var choice = FenceChoice()
        choice.fences = [text]
        let found = try await records(choice, of: service)
        guard found.count == 1, let record = found.first else {
            let numbers = found.prefix(20).map { "\($0.fence.id)" }.joined(separator: ", ")
            throw ServerError(
                .usage, "\(found.count) fences have the name '\(text.prefix(64))': give a number, one of \(numbers)")
        }
        return FenceReport(record)
    }

    /// Changes a fence that has been read. Refuses when somebody else has changed it meanwhile.
    package func changeFence(
        _ report: FenceReport, to definition: FenceDefinition, of service: Int64
    ) async throws(ServerError) -> FenceReport {
        let id = try await known(service)
        let record = report.record
        do throws(TrackStoreError) {
            let changed = try await store.updateFence(
                record.fence.id, to: definition, expecting: record.version, in: id, at: Self.now)
            acts.note(.fenceEdit, in: id, about: "\(record.fence.id)")
            return FenceReport(changed)
        } catch {
            guard error.code == .fenceChanged else { throw ServerError(error) }
            throw ServerError(
                .store,
                "fence \(record.fence.id) was changed by somebody else just now: look at it, and give the command again"
            )
        }
    }

    /// In the order of their numbers. Throws for a number or a name that no fence has, and for a fence that cannot be read.
    package func fences(_ choice: FenceChoice, of service: Int64) async throws(ServerError) -> [FenceReport] {
        try await records(choice, of: service).map(FenceReport.init)
    }

    /// The same. Throws for a number or a name that no fence has.
    ///
    /// `unreadable`: those that are chosen by their numbers or with all others, and that cannot be read.
    package func fencesToDelete(
        _ choice: FenceChoice, of service: Int64
    ) async throws(ServerError) -> (fences: [FenceReport], unreadable: [UnreadableFence]) {
        let found = try await chosen(choice.fences, of: service)
        return (
            found.fences.filter { choice.allows($0.fence.definition) }.map(FenceReport.init),
            choice.hasConditions ? [] : found.unreadable
        )
    }

    /// Deletes fences, also those that cannot be read; nil: every fence of the service. Their alarms stay in the history.
    ///
    /// All of them are deleted, or none. Of more numbers than `together` so many go together: a filter of the store takes no more.
    package func deleteFences(
        _ fences: [Int32]?, of service: Int64, together: Int = FenceRules.mostNumbers
    ) async throws(ServerError) -> [Int32] {
        let id = try await known(service)
        let filters =
            fences.map { fences in
                stride(from: 0, to: fences.count, by: together).map {
                    FenceFilter(fences: Array(fences[$0..<min($0 + together, fences.count)]))
                }
            } ?? [FenceFilter()]
        var deleted: [Int32] = []
        do throws(TrackStoreError) {
            for filter in filters {
                let gone = try await store.deleteFences(matching: filter, in: id, at: Self.now)
                guard !gone.isEmpty else { continue }
                deleted += gone
                let some = gone.prefix(20).map(String.init).joined(separator: ", ")
                acts.note(
                    .fenceDelete, in: id, about: gone.count > 20 ? "\(some) and \(gone.count - 20) more" : some)
            }
            return deleted
        } catch {
            guard !deleted.isEmpty else { throw ServerError(error) }
            throw ServerError(.store, "\(deleted.count) fences were deleted, and then none: \(error)")
        }
    }

    /// The outline of a district that was imported, found as the Web API finds it, with its full name.
    package func district(named keyword: String) async throws(ServerError) -> (name: String, shape: ShapeDraft) {
        do throws(TrackStoreError) {
            let entries = try await store.districts(unless: nil).entries ?? []
            let places = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($0.element.id, $0.offset) })
            let names = DistrictNames(
                entries.map { DistrictNames.Entry(name: $0.name, parent: $0.parent.flatMap { places[$0] }) })
            switch names.resolve(keyword) {
            case .found(let number):
                if let shape = try await store.districtShape(entries[number].id) {
                    return (names.fullName(of: number), shape)
                }
            case .ambiguous(let candidates):
                let some = candidates.prefix(10).joined(separator: "; ")
                throw TrackStoreError(
                    .failed,
                    "'\(keyword.prefix(64))' may be any of \(candidates.count): \(some). Give more of the path")
            case .unknown: break
            }
            let hint =
                entries.isEmpty ? "saker-server district import brings some" : "saker-server district list shows all"
            throw TrackStoreError(
                .failed, "none of the server's \(entries.count) districts is '\(keyword.prefix(64))': \(hint)")
        } catch {
            throw ServerError(error)
        }
    }

    func records(_ choice: FenceChoice, of service: Int64) async throws(ServerError) -> [FenceRecord] {
        let found = try await chosen(choice.fences, of: service)
        if let broken = found.unreadable.first, !choice.fences.isEmpty {
            throw ServerError(.store, "fence \(broken.fence) cannot be read: \(broken.reason)")
        }
        return found.fences.filter { choice.allows($0.fence.definition) }
    }

    /// `texts`: numbers and names; empty: all fences.
    private func chosen(_ texts: [String], of service: Int64) async throws(ServerError) -> ReadableFences {
        let id = try await known(service)
        let numbers = texts.map { Int32($0).flatMap { $0 > 0 ? $0 : nil } }
        let wanted = numbers.compactMap(\.self)
        let filter = !texts.isEmpty && wanted.count == texts.count ? FenceFilter(fences: wanted) : FenceFilter()
        let found: ReadableFences
        do throws(TrackStoreError) {
            found = try await store.allReadableFences(in: id, matching: filter)
        } catch {
            throw ServerError(error)
        }
        guard !texts.isEmpty else { return found }
        var (chosen, unreadable): ([Int32: FenceRecord], [Int32: UnreadableFence]) = ([:], [:])
        for (text, number) in zip(texts, numbers) {
            if let broken = found.unreadable.first(where: { $0.fence == number }) {
                unreadable[broken.fence] = broken
                continue
            }
            let meant = found.fences.filter { record in
                number.map { record.fence.id == $0 } ?? (ExactName(record.fence.definition.name) == ExactName(text))
            }
            guard !meant.isEmpty else {
                throw ServerError(
                    .notFound,
                    "service \(service) has no fence '\(text.prefix(64))': saker-server fence list \(service) shows all fences"
                )
            }
            for record in meant { chosen[record.fence.id] = record }
        }
        return ReadableFences(
            total: found.total, fences: chosen.values.sorted { $0.fence.id < $1.fence.id },
            unreadable: unreadable.values.sorted { $0.fence < $1.fence })
    }
}
