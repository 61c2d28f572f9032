package import Geofencing
internal import JSON
package import TrackModel

/// Makes a plan of a file's features and the fences that are there: which fences to make, to change and to remove.
///
/// Fences that came from another file, or from none, are left alone. Only a file that was exported from these very fences
/// changes them.
package struct FenceImport {
    private let options: ImportOptions
    private let time: Timestamp
    /// Fences of the same file and layer, by their feature.
    private var known: [String: Fence] = [:]
    /// All fences by their number: a feature of an export says which of them it was.
    private var fences: [Int32: Fence] = [:]
    /// The names of the fences of a feature with several parts.
    private var parts: [String: [String]] = [:]
    /// The number of the feature of each id.
    private var numbers: [String: Int] = [:]
    private var columns: Set<String> = []
    private var vertices = 0
    /// Fences that stay though their feature was refused.
    private var kept: Set<String> = []
    private var mayMissFeatures = false
    private var plan = ImportPlan()

    /// `time` is when fences are said to have changed.
    package init(_ options: ImportOptions, existing: some Sequence<Fence>, at time: Timestamp) {
        self.options = options
        self.time = time
        for fence in existing {
            fences[fence.id] = fence
            guard let origin = fence.definition.origin, origin.file == options.file, origin.layer == options.layer
            else { continue }
            // Two fences of one feature cannot come from an import: the second one is removed.
            if let other = known.updateValue(fence, forKey: origin.feature) { plan.removals.append(other.id) }
            if let slash = origin.feature.lastIndex(of: "/") {
                parts[String(origin.feature[..<slash]), default: []].append(origin.feature)
            }
        }
    }

    /// - Throws: ``FenceFileError`` when the file as a whole has too many vertices.
    package mutating func add(_ outcome: FileFeature) throws(FenceFileError) {
        switch outcome {
        case .refused(let refused):
            guard let properties = refused.properties else {
                return refuse(refused, feature: options.idColumn == nil ? refused.id : nil)
            }
            note(properties)
            do throws(RefusedFeature) {
                guard try isChosen(properties, number: refused.number, id: refused.id) else {
                    plan.notChosen += 1
                    return
                }
                refuse(refused, feature: try id(refused.number, refused.id, properties))
            } catch {
                refuse(refused, feature: nil)
            }
        case .feature(let feature):
            do throws(RefusedFeature) {
                try add(feature)
            } catch {
                refuse(error, feature: error.id)
            }
            guard plan.additions.count + plan.updates.count + plan.unchanged <= options.limits.fences else {
                throw FenceFileError(
                    "feature \(feature.number): the file makes more than \(options.limits.fences) fences: choose fewer features"
                )
            }
            guard vertices <= options.limits.vertices else {
                throw FenceFileError(
                    "feature \(feature.number): the fences have more than \(options.limits.vertices) vertices in all: choose"
                        + " fewer features, or give them fewer vertices")
            }
        }
    }

    /// All features of a file.
    package mutating func add(_ reader: inout some FeatureReader) throws(FenceFileError) {
        while let outcome = try reader.next() { try add(outcome) }
    }

    /// What is to be done, when all features have been added.
    ///
    /// - Throws: ``FenceFileError`` for a column that no feature has.
    package consuming func finished() throws(FenceFileError) -> ImportPlan {
        if !columns.isEmpty {
            for column in options.condition?.columns ?? [] where !has(column.name) {
                throw WhereClause.error(column.position, missing(column.name))
            }
            for column in [options.idColumn, options.floorColumn].compactMap(\.self) where !has(column) {
                throw FenceFileError(missing(column))
            }
        }
        let gone = known.filter { !kept.contains($0.key) }.map(\.value.id).sorted()
        if mayMissFeatures { plan.held = gone.count } else { plan.removals += gone }
        return plan
    }

    private func has(_ column: String) -> Bool {
        columns.contains { $0.lowercased() == column.lowercased() }
    }

    private func missing(_ column: String) -> String {
        "no feature has a column \(FenceFileError.quoted(column)); there are "
            + columns.sorted().prefix(50).joined(separator: ", ")
    }

    // MARK: One feature

    private mutating func note(_ properties: [String: JSONValue]) {
        for name in properties.keys where columns.count < 10_000 { columns.insert(name) }
    }

    private mutating func refuse(_ refused: RefusedFeature, feature: String?) {
        plan.refused += 1
        if plan.refusals.count < ImportPlan.mostRefusals { plan.refusals.append(refused) }
        // Without an id in the file, the number is the id.
        guard let feature = feature ?? (options.idColumn == nil ? Self.id(of: refused.number) : nil) else {
            mayMissFeatures = true
            return
        }
        // A file that gives ids may have given this feature one that could not be read.
        if refused.id == nil, refused.properties == nil { mayMissFeatures = true }
        keep(feature)
    }

    private mutating func keep(_ feature: String) {
        kept.insert(feature)
        // Another feature may have the name of a part. Then its fence stays, too; the next import removes it.
        kept.formUnion(parts[feature] ?? [])
    }

    private static func id(of number: Int) -> String { "#\(number)" }

    private mutating func add(_ feature: FenceFeature) throws(RefusedFeature) {
        note(feature.properties)
        let id = try id(feature.number, feature.id, feature.properties)
        if feature.id == nil, options.idColumn == nil { plan.withoutID += 1 }
        func refused(_ reason: String) -> RefusedFeature {
            RefusedFeature(number: feature.number, id: id, reason: reason)
        }
        let count = feature.geometry.parts.count
        let names = count == 1 ? [id] : (1...max(count, 1)).map { "\(id)/\($0)" }
        for name in [id] + names {
            guard let other = numbers[name] else { continue }
            throw refused(
                "feature \(other) has the same id: the ids of a file differ, choose the column with --id-column")
        }
        for name in [id] + names { numbers[name] = feature.number }
        guard try isChosen(feature.properties, number: feature.number, id: id) else {
            plan.notChosen += 1
            return
        }
        if let area = options.area, !area.contains(feature.geometry) {
            plan.outside += 1
            return
        }
        if known[id] == nil, try addOwn(feature, id) { return }
        let maker = DefinitionMaker(options: options, feature: feature, id: id)
        // All parts or none.
        var made: [(name: String, change: Change)] = []
        for (part, name) in zip(feature.geometry.parts.indices, names) {
            do throws(FenceFileError) {
                let definition = try maker.definition(ofPart: part, named: name, known: known[name])
                made.append((name, try change(definition, of: known[name])))
            } catch {
                throw refused(error.description)
            }
        }
        for (name, change) in made {
            known[name] = nil
            switch change {
            case .addition(let definition): plan.additions.append(definition)
            case .update(_, .nothing): plan.unchanged += 1
            case .update(let fence, let edit): plan.updates.append(.init(fence: fence, edit: edit))
            }
        }
        vertices += feature.geometry.vertexCount
    }

    /// A feature of an export of these very fences: the fence becomes what the feature says, and stays the fence of the file
    /// that it came from. False for every other feature.
    private mutating func addOwn(_ feature: FenceFeature, _ id: String) throws(RefusedFeature) -> Bool {
        let maker = DefinitionMaker(options: options, feature: feature, id: id)
        func definition(_ fence: Fence) throws(FenceFileError) -> FenceDefinition {
            var definition = try maker.definition(ofPart: 0, named: id, known: fence)
            definition.origin = fence.definition.origin
            return definition
        }
        do throws(FenceFileError) {
            guard let fence = try FenceGeoJSON.own(feature, among: fences, definition: definition) else {
                return false
            }
            if let origin = fence.definition.origin, known[origin.feature]?.id == fence.id {
                known[origin.feature] = nil
            }
            let definition = try definition(fence)
            switch try change(definition, of: fence) {
            case .update(_, .nothing): plan.unchanged += 1
            case .update(let fence, let edit): plan.updates.append(.init(fence: fence, edit: edit))
            case .addition: break
            }
        } catch {
            throw RefusedFeature(number: feature.number, id: id, reason: error.description)
        }
        vertices += feature.geometry.vertexCount
        return true
    }

    private func isChosen(
        _ properties: [String: JSONValue], number: Int, id: String?
    ) throws(RefusedFeature) -> Bool {
        guard let condition = options.condition else { return true }
        do throws(FenceFileError) {
            return try condition.truth(of: properties) == true
        } catch {
            throw RefusedFeature(number: number, id: id, reason: error.description)
        }
    }

    private func id(
        _ number: Int, _ given: String?, _ properties: [String: JSONValue]
    ) throws(RefusedFeature) -> String {
        guard let column = options.idColumn else { return given ?? Self.id(of: number) }
        do throws(FenceFileError) {
            let name = try WhereClause.name(of: column, among: properties)
            if let id = name.flatMap({ properties[$0] }).flatMap(GeoJSONGeometry.text) { return id }
        } catch {
            throw RefusedFeature(number: number, reason: error.description)
        }
        throw RefusedFeature(number: number, reason: "it has no id in the column \(FenceFileError.quoted(column))")
    }

    private enum Change {
        case addition(FenceDefinition)
        case update(Fence, FenceEdit)
    }

    private func change(_ definition: FenceDefinition, of known: Fence?) throws(FenceFileError) -> Change {
        if !options.unknownEntities.isEmpty,
            let unknown = definition.watch.entities.first(where: options.unknownEntities.contains)
        {
            throw FenceFileError(
                "it watches \(FenceFileError.quoted(unknown.text)), and there is no entity of this name: a vehicle becomes one with "
                    + "its first login")
        }
        do throws(FenceError) {
            guard var fence = known else {
                // Checked here, so that a plan cannot fail.
                _ = try Fence(id: 1, definition, at: time)
                return .addition(definition)
            }
            let edit = try fence.update(definition, at: time)
            return .update(fence, edit)
        } catch {
            throw FenceFileError(error.description)
        }
    }
}

/// What an import changes. Nothing has changed yet.
package struct ImportPlan: Hashable, Sendable {
    package struct Update: Hashable, Sendable {
        package let fence: Fence
        package let edit: FenceEdit
    }

    /// Fences to make, in the order of the file. Each keeps every rule.
    package var additions: [FenceDefinition] = []
    /// Fences as they become.
    package var updates: [Update] = []
    /// Fences whose features are gone.
    package var removals: [Int32] = []
    /// Fences that stay as they are.
    package var unchanged = 0
    /// Features that the condition did not choose, or whose condition is unknown.
    package var notChosen = 0
    /// Features outside the area.
    package var outside = 0
    /// Fences without a feature that stay all the same: a feature whose id is not known was refused, and may be theirs.
    package var held = 0
    /// Features whose number in the file is their id: when the file's order changes, fences change.
    package var withoutID = 0
    /// The first features that cannot become fences; those that were imported before stay as they are.
    package var refusals: [RefusedFeature] = []
    package var refused = 0

    /// Whom the fences watch that are made or changed.
    package var watched: Set<ExactName> { Set(written.flatMap { Array($0.watch.entities) }) }

    /// Of a vehicle: fences that tell an action to others, who hear nothing of it without reports to the server.
    package var unreported: Int { written.count { $0.unreportedRemote != nil } }
    /// Fences that tell an action to others, and name nobody who is told.
    package var unheard: Int { written.count { $0.unheardRemote != nil } }

    private var written: [FenceDefinition] { additions + updates.map(\.fence.definition) }

    package static let mostRefusals = 1000

    package init() {}
}
