package import Geodesy
package import TrackModel

/// A fence as people and programs give it. ``Fence`` is what has been made of it, ``FencePlan`` what is judged.
package struct FenceDefinition: Hashable, Sendable {
    /// Free text without a meaning, at most ``mostNameBytes``; may be empty.
    package var name = ""
    /// The numbers as given, in the datum in which they were given.
    package var shape: ShapeDraft
    /// The name of the district whose outline ``shape`` is.
    package var district: String?
    /// What is told. With `stay`, ``stay`` is needed.
    package var rule: FenceRule = .usual
    package var stay: StayAlarmRule?
    /// Seconds, ``settles``: enter and exit are told only when they have held for so long.
    package var settle = 0
    /// Whether an entity that is first seen inside makes an enter.
    package var isInitialTold = false
    /// Whether a visit between two points counts; nil: it does for areas, and does not for corridors.
    package var through: Bool?
    /// Seconds, ``FencePlan/crossingGaps``: the way between two points is known when no more time lies between them.
    package var crossingGap = 120
    /// Metres, ``denoises``; a point with a worse accuracy is not judged. 0: every point is.
    package var denoise: Int32 = 0
    /// The floor's name; compared with the track attribute `floor`.
    package var floor: String?
    package var altitude: AltitudeRange?
    package var validity: FenceValidity?
    /// Fences with the same group and watch are one more thing with alarms of its own.
    package var group: String?
    package var speedLimit: SpeedLimit?
    package var watch: FenceSubjects = .nobody
    /// At most one for each action.
    package var reactions: [FenceReaction] = []
    /// Whether the agent reports the alarms of this fence of its own to the server.
    package var isReported = false
    /// Where an imported fence came from.
    package var origin: FenceOrigin?

    /// Bytes of UTF-8: of a name, a floor, a group; and of a district's name, which has all of its parents' in it.
    package static let mostNameBytes = 128
    package static let mostDistrictBytes = 512
    package static let settles = 0...604_800
    package static let denoises: ClosedRange<Int32> = 0...1_000_000

    package init(_ shape: ShapeDraft) {
        self.shape = shape
    }

    /// What goes along with an action.
    package func reaction(to action: FenceAction) -> FenceReaction? {
        reactions.first { $0.on == action }
    }

    /// What texts of a new or changed fence may not hold: they are shown on terminals and in logs. A stored fence of an earlier version
    /// stays one, also when something else of it is changed.
    ///
    /// - Throws: ``FenceError``.
    package func checkTexts(beside former: FenceDefinition? = nil) throws(FenceError) {
        for (text, was, what, rule) in [
            (name, former?.name, "a fence's name", FenceError.Rule.name),
            (group ?? "", former?.group, "a fence's group", .group),
        ] where was.map({ !$0.utf8.elementsEqual(text.utf8) }) ?? true {
            if let problem = NameRules.problem(with: text, what) { throw FenceError(rule, problem) }
        }
        // Both are compared with texts that come from elsewhere.
        for (text, was, name, rule) in [
            (district ?? "", former?.district, "the district", FenceError.Rule.name),
            (floor ?? "", former?.floor, "the floor", .floor),
        ] where text.hasHidden && text != was {
            throw FenceError(
                rule, "\(name) holds a control, direction or invisible character (such as a line break): leave it out")
        }
    }

    /// Every rule but those of the shape.
    ///
    /// - Throws: ``FenceError`` that names the value, the rule and what to do.
    package func check() throws(FenceError) {
        try FenceError.checkText(name, "the name", .name, most: Self.mostNameBytes, mayBeEmpty: true)
        if let district {
            try FenceError.checkText(district, "the district", .name, most: Self.mostDistrictBytes)
        }
        if let floor { try FenceError.checkText(floor, "the floor", .floor, most: Self.mostNameBytes) }
        if let group { try FenceError.checkText(group, "the group", .group, most: Self.mostNameBytes) }
        try checkTimes()
        guard Self.denoises.contains(denoise) else {
            throw FenceError(.denoise, "a denoise of \(denoise) m: it is 0, which is off, to 1,000,000 metres")
        }
        try validity?.check()
        var seen: Set<FenceAction> = []
        for reaction in reactions where !seen.insert(reaction.on).inserted {
            throw FenceError(.reaction, "two actions on \(reaction.on.rawValue): put their params into one")
        }
        guard !seen.contains(.overspeed) || speedLimit != nil else {
            throw FenceError(.reaction, "an action on overspeed, and no speed limit: give one, or leave the action out")
        }
        guard !seen.contains(.stay) || stay != nil else {
            throw FenceError(.reaction, "an action on stay, and no stay: say when one is told, or leave the action out")
        }
    }

    private func checkTimes() throws(FenceError) {
        guard rule.isSubset(of: [.enter, .exit, .stay]) else {
            throw FenceError(.rule, "the rule \(rule.rawValue) is unknown: it has enter, exit and stay")
        }
        guard rule.contains(.stay) == (stay != nil) else {
            throw FenceError(
                .stay,
                stay == nil
                    ? "the rule has stay: say after how many seconds a stay is told, and how often"
                    : "when a stay is told is given, and the rule has no stay: add it to the rule")
        }
        guard Self.settles.contains(settle) else {
            throw FenceError(.settle, "a settle of \(settle) s: it is 0 to 604,800 seconds")
        }
        guard FencePlan.crossingGaps.contains(crossingGap) else {
            throw FenceError(.crossingGap, "a crossing gap of \(crossingGap) s: it is 0 to 300 seconds")
        }
    }

    /// The shape in WGS 84.
    ///
    /// - Throws: ``FenceError`` that names the value, the edge and the place, and the rule.
    package func checkedShape(isKnown: Bool = false, isStored: Bool = false) throws(FenceError) -> Shape {
        do throws(ShapeError) {
            return try shape.shape(isKnown: isKnown, isStored: isStored)
        } catch {
            throw FenceError(.shape(error.rule), error.description)
        }
    }
}

/// What goes along when a fence tells an action. Nobody on the way reads it: it is for hooks and programs.
package struct FenceReaction: Hashable, Sendable {
    package let on: FenceAction
    /// A JSON object; its owner has seen to that.
    package let parameters: String
    /// Whether everyone whom the fence watches is told, not only the entity that moved.
    package let isRemote: Bool

    /// Bytes of parameters.
    package static let mostBytes = 4096
    /// Most entities to which one alarm is told remotely: see decision 18.
    package static let mostRemote = 100

    /// - Throws: ``FenceError`` for parameters that are too long.
    package init(on action: FenceAction, parameters: String, isRemote: Bool = false) throws(FenceError) {
        try FenceError.checkText(parameters, "params on \(action.rawValue)", .reaction, most: Self.mostBytes)
        on = action
        self.parameters = parameters
        self.isRemote = isRemote
    }
}

extension FenceDefinition {
    /// Of a vehicle's own fence: an action that others should hear of, although the server, which would tell them, gets no report;
    /// nil: there is none.
    package var unreportedRemote: FenceAction? { isReported ? nil : reactions.first(where: \.isRemote)?.on }
    /// An action that others should hear of, although nobody is told: those are told whom the fence names, unless they are more than
    /// ``FenceReaction/mostRemote``; nil: there is none.
    package var unheardRemote: FenceAction? {
        (1...FenceReaction.mostRemote).contains(watch.entities.count) ? nil : reactions.first(where: \.isRemote)?.on
    }
}

/// Where an imported fence came from: a second import of the same file and layer finds it by its feature.
package struct FenceOrigin: Hashable, Sendable {
    /// The name that the file was imported under.
    package let file: String
    /// Of a file with several layers.
    package let layer: String?
    /// The feature's id, as text.
    package let feature: String
    /// The feature's attributes, a JSON object.
    package let attributes: String

    /// Bytes of a name or an id, and of the attributes.
    package static let mostNameBytes = 1024
    package static let mostBytes = 64 * 1024

    /// - Throws: ``FenceError`` for a text that is too long, or empty.
    package init(file: String, layer: String? = nil, feature: String, attributes: String) throws(FenceError) {
        try FenceError.checkText(file, "the file's name", .origin, most: Self.mostNameBytes)
        if let layer { try FenceError.checkText(layer, "the layer's name", .origin, most: Self.mostNameBytes) }
        try FenceError.checkText(feature, "the feature's id", .origin, most: Self.mostNameBytes)
        try FenceError.checkText(attributes, "the list of the feature's attributes", .origin, most: Self.mostBytes)
        self.file = file
        self.layer = layer
        self.feature = feature
        self.attributes = attributes
    }
}

/// Whom a fence watches: nobody, some entities, or every entity of the service.
package struct FenceSubjects: Hashable, Sendable {
    package let isEveryone: Bool
    /// In the order of their bytes, none twice; empty for nobody and for everyone.
    package let entities: [ExactName]

    package static let nobody = Self(isEveryone: false, entities: [])
    package static let everyone = Self(isEveryone: true, entities: [])
    /// Names in a list.
    package static let mostEntities = 100_000
    /// What the Web API calls everyone.
    package static let everyoneName = "#allentity"

    private init(isEveryone: Bool, entities: [ExactName]) {
        self.isEveryone = isEveryone
        self.entities = entities
    }

    /// Names in any order; a name that comes again counts once.
    ///
    /// - Throws: ``FenceError`` for what no entity is named, and for too many names.
    package init(_ names: some Sequence<String>) throws(FenceError) {
        var kept: [ExactName] = []
        for name in names {
            if let problem = EntityName.problem(with: name) {
                throw FenceError(.watch, "'\(name)' cannot be watched: \(problem)")
            }
            kept.append(ExactName(name))
        }
        kept.sort()
        var distinct: [ExactName] = []
        for name in kept where name != distinct.last { distinct.append(name) }
        guard distinct.count <= Self.mostEntities else {
            throw FenceError(
                .watch, "\(distinct.count) entities are watched: a list has at most 100,000, watch all of them instead")
        }
        self.init(isEveryone: false, entities: distinct)
    }

    package var isNobody: Bool { !isEveryone && entities.isEmpty }

    package func contains(_ entity: String) -> Bool {
        guard !isEveryone else { return true }
        let name = ExactName(entity)
        var (low, high) = (0, entities.count)
        while low < high {
            let middle = (low + high) / 2
            if entities[middle] < name { low = middle + 1 } else { high = middle }
        }
        return low < entities.count && entities[low] == name
    }

    /// The same and these; everyone stays everyone.
    package func adding(_ names: some Sequence<String>) throws(FenceError) -> Self {
        guard !isEveryone else { return self }
        return try Self(entities.map(\.text) + Array(names))
    }

    /// The same without these.
    ///
    /// - Throws: ``FenceError`` for everyone, from whom nobody can be taken.
    package func removing(_ names: some Sequence<String>) throws(FenceError) -> Self {
        guard !isEveryone else {
            throw FenceError(.watch, "the fence watches every entity: name those it shall watch instead")
        }
        let removed = Set(names.map { ExactName($0) })
        return Self(isEveryone: false, entities: entities.filter { !removed.contains($0) })
    }

    /// Tells one watch from another. No entity's name holds a comma, or begins with `#`.
    package var scope: String {
        isEveryone ? Self.everyoneName : entities.map(\.text).joined(separator: ",")
    }
}
