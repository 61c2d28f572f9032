internal import FenceJSON
internal import Geodesy
internal import Geofencing
internal import JSON
internal import TrackFiles
internal import TrackModel

/// Makes the definition of a fence of one part of a feature.
struct DefinitionMaker {
    let options: ImportOptions
    let feature: FenceFeature
    /// Of the feature.
    let id: String

    /// `known` is the fence that an earlier import made of the part.
    func definition(
        ofPart part: Int, named name: String, known: Fence?
    ) throws(FenceFileError) -> FenceDefinition {
        let shape = try shape(of: feature.geometry.parts[part])
        var definition = known?.definition ?? FenceDefinition(shape)
        if known == nil { definition.watch = options.usualWatch }
        definition.shape = shape
        let given = feature.properties["fence"]
        if let given, given.objectValue != nil {
            do throws(FenceJSONError) {
                definition = try FenceDefinition(json: given, shape: shape)
            } catch {
                throw FenceFileError(error)
            }
            // A fence that says nothing of it, or null, watches whom the caller's fences usually watch.
            if given["watch"] ?? .null == .null { definition.watch = options.usualWatch }
            // The shape of the geometry has it already, as the offset of a line that has no other.
            if let buffer = options.buffer, given["shape"] != nil { definition.shape.buffer = buffer }
        }
        if let name = try text(options.nameColumn) { definition.name = name }
        if let column = options.floorColumn { definition.floor = try text(column) }
        options.settings.apply(to: &definition)
        if let reactions = options.settings.reactions {
            definition.reactions = []
            for reaction in reactions {
                definition.reactions.append(try ParameterTemplate.filled(reaction, from: feature.properties))
            }
        }
        if options.makesCirclesOfPoints { Self.makeCircle(of: &definition) }
        // The parts of a feature are one thing: in when any of them is in.
        if feature.geometry.parts.count > 1, definition.group == nil {
            definition.group = definition.name.isEmpty ? id : definition.name
        }
        var attributes = feature.properties
        attributes["fence"] = nil
        if given?.objectValue != nil { attributes[FenceGeoJSON.created] = nil }
        do throws(FenceError) {
            definition.origin = try FenceOrigin(
                file: options.file, layer: options.layer, feature: name,
                attributes: JSONValue.object(attributes).description)
        } catch {
            throw FenceFileError(error.description)
        }
        return definition
    }

    /// A point with a buffer is a circle. One that never counts stays a point: it stands for a polygon without area.
    private static func makeCircle(of definition: inout FenceDefinition) {
        guard case .point(let place) = definition.shape.outline, definition.validity?.through?.milliseconds != 0 else {
            return
        }
        definition.shape = ShapeDraft(
            .circle(centre: place, radius: definition.shape.buffer), datum: definition.shape.datum)
    }

    private func shape(of part: FeatureGeometry.Part) throws(FenceFileError) -> ShapeDraft {
        let given = try metres("buffer")
        let buffer = options.buffer ?? given
        switch part {
        case .polygon(let parts): return draft(.polygon(parts), buffer)
        case .point(let place):
            if let radius = try metres("radius") { return draft(.circle(centre: place, radius: radius), buffer) }
            guard let buffer else {
                throw FenceFileError("a point needs metres around it: a property radius, or --buffer")
            }
            return draft(.point(place), buffer)
        case .line(let line):
            if let offset = try metres("offset") { return draft(.corridor(line, offset: offset), buffer) }
            guard let buffer else {
                throw FenceFileError("a line needs metres on its sides: a property offset, or --buffer")
            }
            return draft(.corridor(line, offset: buffer), nil)
        }
    }

    private func draft(_ outline: ShapeDraft.Outline, _ buffer: Double?) -> ShapeDraft {
        ShapeDraft(outline, datum: options.datum, buffer: buffer ?? 0)
    }

    private func value(_ column: String) throws(FenceFileError) -> JSONValue? {
        let name = try WhereClause.name(of: column, among: feature.properties)
        guard let value = name.flatMap({ feature.properties[$0] }), value != .null else { return nil }
        return value
    }

    /// A number of metres; formats without types have it as a text.
    private func metres(_ column: String) throws(FenceFileError) -> Double? {
        guard let value = try value(column), value.stringValue.map({ FileNumber.isUnknown($0) }) != true else {
            return nil
        }
        guard let number = value.doubleValue ?? value.stringValue.flatMap({ FileNumber.value($0) }) else {
            throw FenceFileError(
                "its \(column) is \(FenceFileError.quoted(value.description)): a number of metres is needed")
        }
        return number
    }

    /// Nil for a missing or an empty value.
    private func text(_ column: String) throws(FenceFileError) -> String? {
        guard let value = try value(column) else { return nil }
        guard let text = value.stringValue ?? GeoJSONGeometry.text(value) else {
            throw FenceFileError("its \(column) is \(value.kind): a text is needed")
        }
        return text.isEmpty ? nil : text
    }
}

/// Parameters with places for a feature's attributes: `{column}` in a text. `{{` stands for a brace.
enum ParameterTemplate {
    /// A text that is nothing but one place becomes the attribute itself, be it a number or a list.
    static func filled(
        _ reaction: FenceReaction, from attributes: [String: JSONValue]
    ) throws(FenceFileError) -> FenceReaction {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.value(of: Array(reaction.parameters.utf8))
        } catch {
            throw FenceFileError("the params on \(reaction.on.rawValue) are \(error)")
        }
        let parameters = try filled(value, from: attributes).description
        do throws(FenceError) {
            return try FenceReaction(on: reaction.on, parameters: parameters, isRemote: reaction.isRemote)
        } catch {
            throw FenceFileError(error.description)
        }
    }

    private static func filled(
        _ value: JSONValue, from attributes: [String: JSONValue]
    ) throws(FenceFileError) -> JSONValue {
        switch value {
        case .string(let text): return try filled(text, from: attributes)
        case .array(let elements):
            var filled: [JSONValue] = []
            for element in elements { filled.append(try Self.filled(element, from: attributes)) }
            return .array(filled)
        case .object(let members):
            var filled: [String: JSONValue] = [:]
            for (name, member) in members { filled[name] = try Self.filled(member, from: attributes) }
            return .object(filled)
        case .null, .bool, .integer, .double: return value
        }
    }

    private static func filled(
        _ text: String, from attributes: [String: JSONValue]
    ) throws(FenceFileError) -> JSONValue {
        var (result, rest, single) = ("", text[...], JSONValue?.none)
        while let brace = rest.firstIndex(of: "{") {
            result += rest[..<brace]
            rest = rest[rest.index(after: brace)...]
            if rest.first == "{" {
                result += "{"
                rest = rest.dropFirst()
                continue
            }
            guard let end = rest.firstIndex(of: "}") else {
                throw FenceFileError(
                    "\(FenceFileError.quoted(text)) in the params has '{' without '}': write {{ for a brace")
            }
            let column = String(rest[..<end])
            let name = try WhereClause.name(of: column, among: attributes)
            let value = name.flatMap { attributes[$0] } ?? .null
            rest = rest[rest.index(after: end)...]
            if result.isEmpty, rest.isEmpty, text.hasPrefix("{\(column)") { single = value }
            if value != .null { result += value.stringValue ?? value.description }
        }
        if let single { return single }
        return .string(result + rest)
    }
}
