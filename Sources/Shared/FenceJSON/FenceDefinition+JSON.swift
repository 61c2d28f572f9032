package import Geofencing
package import JSON
internal import TrackModel

// Times are in milliseconds, distances in metres, speeds in metres per second. What is usual is left out.
extension FenceDefinition {
    /// As a JSON object.
    package var json: JSONValue {
        var members = rules
        members["shape"] = shape.json
        return .object(members)
    }

    /// Everything but the shape.
    package var rules: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if !name.isEmpty { members["name"] = .string(name) }
        if let district { members["district"] = .string(district) }
        if rule != .usual {
            members["rule"] = .array(FenceRule.names.filter { rule.contains($0.rule) }.map { .string($0.name) })
        }
        if let stay {
            var value: [String: JSONValue] = ["after": .integer(Int64(stay.after))]
            if let every = stay.every { value["every"] = .integer(Int64(every)) }
            members["stay"] = .object(value)
        }
        if settle != 0 { members["settle"] = .integer(Int64(settle)) }
        if isInitialTold { members["initial"] = true }
        if let through { members["through"] = .bool(through) }
        if crossingGap != 120 { members["crossing_gap"] = .integer(Int64(crossingGap)) }
        if denoise != 0 { members["denoise"] = .integer(Int64(denoise)) }
        if let floor { members["floor"] = .string(floor) }
        if let altitude {
            var value: [String: JSONValue] = [:]
            if let lower = altitude.lower { value["lower"] = .double(Double(lower) / 10) }
            if let upper = altitude.upper { value["upper"] = .double(Double(upper) / 10) }
            members["altitude"] = .object(value)
        }
        if let validity { members["validity"] = validity.json }
        if let group { members["group"] = .string(group) }
        if let speedLimit {
            members["speed_limit"] = [
                "speed": .double(Double(speedLimit.speed) / 100), "duration": .integer(Int64(speedLimit.duration)),
            ]
        }
        if watch.isEveryone {
            members["watch"] = .string(FenceSubjects.everyoneName)
        } else if !watch.isNobody {
            members["watch"] = .array(watch.entities.map { .string($0.text) })
        }
        if !reactions.isEmpty { members["actions"] = .array(reactions.map(\.json)) }
        if isReported { members["report"] = true }
        if let origin { members["origin"] = origin.json }
        return members
    }
}

extension FenceRule {
    static let names: [(name: String, rule: FenceRule)] = [("enter", .enter), ("exit", .exit), ("stay", .stay)]
}

extension FenceReaction {
    fileprivate var json: JSONValue {
        let value = try? JSONReader.value(of: Array(parameters.utf8))
        var members: [String: JSONValue] = ["on": .string(on.rawValue), "params": value ?? .string(parameters)]
        if isRemote { members["remote"] = true }
        return .object(members)
    }
}

extension FenceOrigin {
    fileprivate var json: JSONValue {
        let value = try? JSONReader.value(of: Array(attributes.utf8))
        var members: [String: JSONValue] = [
            "file": .string(file), "feature": .string(feature), "attributes": value ?? .string(attributes),
        ]
        if let layer { members["layer"] = .string(layer) }
        return .object(members)
    }
}

extension FenceValidity {
    static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [:]
        if let from { members["from"] = .integer(from.milliseconds) }
        if let through { members["through"] = .integer(through.milliseconds) }
        if !windows.isEmpty {
            members["windows"] = .array(
                windows.map { window in
                    let days = Self.days.enumerated().filter { window.days & 1 << $0.offset != 0 }
                    return [
                        "days": .array(days.map { .string($0.element) }), "from": .integer(Int64(window.from)),
                        "to": .integer(Int64(window.to)),
                    ]
                })
        }
        switch zone {
        case .offset(0): break
        case .offset(let seconds): members["utc_offset"] = .integer(Int64(seconds))
        case .named(let name): members["zone"] = .string(name)
        }
        return .object(members)
    }
}
