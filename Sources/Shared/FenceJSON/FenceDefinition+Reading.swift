package import Geodesy
package import Geofencing
package import JSON
internal import TrackModel

extension FenceDefinition {
    /// Reads what ``json`` writes. The fence's own rules are ``check()``'s.
    ///
    /// - Parameters:
    ///   - json: an object.
    ///   - shape: the shape when the object has none.
    ///   - path: how a person names the object.
    /// - Throws: ``FenceJSONError`` that names the member, the value and what it needs. A member that nobody knows is refused.
    package init(json: JSONValue, shape: ShapeDraft? = nil, path: String = "fence") throws(FenceJSONError) {
        var members = try DefinitionMembers(json, path)
        if let value = members.value("shape") {
            self.init(try ShapeDraft(json: value, path: "\(path).shape"))
        } else if let shape {
            self.init(shape)
        } else {
            throw FenceJSONError("\(path).shape is missing")
        }
        name = try members.text("name") ?? ""
        district = try members.text("district")
        try readRules(&members)
        denoise = try members.steps("denoise", scale: 1) ?? 0
        floor = try members.text("floor")
        altitude = try Self.altitude(&members)
        if let value = try members.object("validity") { validity = try FenceValidity(value) }
        group = try members.text("group")
        speedLimit = try Self.speedLimit(&members)
        watch = try FenceSubjects(&members)
        for value in try members.list("actions") ?? [] { reactions.append(try Self.reaction(value, path)) }
        isReported = try members.flag("report") ?? false
        if let value = try members.object("origin") { origin = try Self.origin(value) }
        try members.end()
    }

    private mutating func readRules(_ members: inout DefinitionMembers) throws(FenceJSONError) {
        if let names = try members.list("rule") {
            rule = []
            for value in names {
                guard let known = FenceRule.names.first(where: { .string($0.name) == value }) else {
                    throw members.error("rule", value, needs: "a list of enter, exit and stay")
                }
                rule.insert(known.rule)
            }
        }
        if var value = try members.object("stay") {
            let (after, every) = (try value.integer("after"), try value.integer("every"))
            guard let after, let made = StayAlarmRule(after: Int(after), every: every.map { Int($0) }) else {
                throw FenceJSONError(
                    "\(value.path): after, and every if there is one, are 5 to 604,800 seconds, not \(after ?? 0) and"
                        + " \(every.map { String($0) } ?? "none")")
            }
            try value.end()
            stay = made
        }
        settle = Int(clamping: try members.integer("settle") ?? 0)
        isInitialTold = try members.flag("initial") ?? false
        through = try members.flag("through")
        crossingGap = Int(clamping: try members.integer("crossing_gap") ?? 120)
    }

    private static func altitude(_ members: inout DefinitionMembers) throws(FenceJSONError) -> AltitudeRange? {
        guard var value = try members.object("altitude") else { return nil }
        let (lower, upper) = (try value.steps("lower", scale: 10), try value.steps("upper", scale: 10))
        try value.end()
        guard let range = AltitudeRange(lower: lower, upper: upper) else {
            throw FenceJSONError("\(value.path): the lower end lies above the upper one")
        }
        return range
    }

    private static func speedLimit(_ members: inout DefinitionMembers) throws(FenceJSONError) -> SpeedLimit? {
        guard var value = try members.object("speed_limit") else { return nil }
        let speed = try value.steps("speed", scale: 100)
        let duration = try value.integer("duration") ?? 0
        try value.end()
        guard let limit = SpeedLimit(speed: speed ?? 0, duration: Int(clamping: duration)) else {
            throw FenceJSONError(
                "\(value.path): a speed above 0 m/s and a duration of 0 to 3600 seconds are needed, not"
                    + " \(Double(speed ?? 0) / 100) and \(duration)")
        }
        return limit
    }

    private static func reaction(_ value: JSONValue, _ path: String) throws(FenceJSONError) -> FenceReaction {
        var members = try DefinitionMembers(value, "\(path).actions")
        let on = try members.need("on")
        guard let action = on.stringValue.flatMap(FenceAction.init(rawValue:)) else {
            throw members.error("on", on, needs: FenceAction.allCases.map(\.rawValue).joined(separator: ", "))
        }
        let parameters = members.value("params") ?? [:]
        guard parameters.objectValue != nil else { throw members.error("params", parameters, needs: "an object") }
        let isRemote = try members.flag("remote") ?? false
        try members.end()
        do throws(FenceError) {
            return try FenceReaction(on: action, parameters: parameters.description, isRemote: isRemote)
        } catch {
            throw FenceJSONError("\(path).actions: \(error)")
        }
    }

    private static func origin(_ members: DefinitionMembers) throws(FenceJSONError) -> FenceOrigin {
        var members = members
        let (file, layer) = (try members.text("file") ?? "", try members.text("layer"))
        let feature = try members.text("feature") ?? ""
        let attributes = members.value("attributes") ?? [:]
        guard attributes.objectValue != nil else { throw members.error("attributes", attributes, needs: "an object") }
        try members.end()
        do throws(FenceError) {
            return try FenceOrigin(file: file, layer: layer, feature: feature, attributes: attributes.description)
        } catch {
            throw FenceJSONError("\(members.path): \(error)")
        }
    }
}

extension FenceSubjects {
    fileprivate init(_ members: inout DefinitionMembers) throws(FenceJSONError) {
        self = .nobody
        guard let value = members.value("watch") else { return }
        if value == .string(Self.everyoneName) {
            self = .everyone
            return
        }
        let names = value.arrayValue?.compactMap(\.stringValue)
        guard let names, names.count == value.arrayValue?.count else {
            throw members.error("watch", value, needs: "a list of entities or \"\(Self.everyoneName)\"")
        }
        do throws(FenceError) {
            self = try FenceSubjects(names)
        } catch {
            throw FenceJSONError("\(members.path).watch: \(error)")
        }
    }
}

extension FenceValidity {
    fileprivate init(_ given: DefinitionMembers) throws(FenceJSONError) {
        var members = given
        self.init()
        from = try members.integer("from").map(Timestamp.init(milliseconds:))
        through = try members.integer("through").map(Timestamp.init(milliseconds:))
        for value in try members.list("windows") ?? [] { windows.append(try Self.window(value, members.path)) }
        let (offset, name) = (try members.integer("utc_offset"), try members.text("zone"))
        guard offset == nil || name == nil else {
            throw FenceJSONError("\(members.path) has utc_offset and zone: give one of them")
        }
        if let offset { zone = .offset(Int32(clamping: offset)) }
        if let name { zone = .named(name) }
        try members.end()
    }

    private static func window(_ value: JSONValue, _ path: String) throws(FenceJSONError) -> WeeklyWindow {
        var members = try DefinitionMembers(value, "\(path).windows")
        var days: UInt8 = 0
        for day in try members.list("days") ?? Self.days.map({ .string($0) }) {
            guard let index = Self.days.firstIndex(where: { .string($0) == day }) else {
                throw members.error("days", day, needs: "a list of mon, tue, wed, thu, fri, sat, sun")
            }
            days |= 1 << UInt8(index)
        }
        let (from, to) = (try members.integer("from") ?? 0, try members.integer("to") ?? 86_400)
        try members.end()
        guard let window = WeeklyWindow(days: days, from: Int32(clamping: from), to: Int32(clamping: to)) else {
            throw FenceJSONError(
                "\(members.path): a day, from 0 to 86,399 and to 0 to 86,400 seconds after midnight are needed, not"
                    + " \(from) and \(to)")
        }
        return window
    }
}
