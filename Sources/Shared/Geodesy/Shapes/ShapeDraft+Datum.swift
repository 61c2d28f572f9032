extension ShapeDraft {
    /// The datum that the numbers are taken for: what is declared, or WGS 84 for a shape that does not lie in China.
    package var datumInUse: Datum { DatumReader(declared: datum, first: first).datum }

    /// The outline in a datum: the numbers as given when they are in it already. A shape outside China is in WGS 84, whatever
    /// is asked for. Edges are not cut, so a long edge of a converted outline lies a little beside the judged one.
    package func outline(in wanted: Datum) -> (outline: Outline, datum: Datum) {
        let given = datumInUse
        guard given == .wgs84, let first else { return (converted(from: given, to: wanted), wanted) }
        let isInChina = DatumConversion.isInChina(latitude: first.latitude, longitude: first.longitude)
        let target = isInChina ? wanted : .wgs84
        return (converted(from: given, to: target), target)
    }

    private func converted(from given: Datum, to target: Datum) -> Outline {
        guard given != target else { return outline }
        let convert = { (place: Degrees) in DatumConversion.convert(place, from: given, to: target) }
        return switch outline {
        case .circle(let centre, let radius): .circle(centre: convert(centre), radius: radius)
        case .point(let place): .point(convert(place))
        case .polygon(let parts): .polygon(parts.map { $0.map { $0.map(convert) } })
        case .corridor(let line, let offset): .corridor(line.map(convert), offset: offset)
        }
    }
}
