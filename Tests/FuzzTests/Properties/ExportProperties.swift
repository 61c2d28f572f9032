import TrackExport
import TrackModel
import TrackStore

@testable import WebAPI

/// The lines of a file that `saker-server import` is given, after the zip file is opened.
enum ExportProperties {
    private static let now = Timestamp(seconds: 1_772_677_900)

    private static let columns = [
        ColumnRecord(key: "fuel", type: .double, created: now), ColumnRecord(key: "door", type: .integer, created: now),
        ColumnRecord(key: "driver", type: .string, created: now),
    ]

    /// The input is the text of the file.
    @Sendable static func checkLines(_ input: [UInt8]) throws {
        let lines = lines(of: input, piece: max(1, input.count))
        try require(lines == Self.lines(of: input, piece: 7), "the pieces of a file change its lines")
        for line in lines.prefix(100) { try check(line) }
    }

    private static func lines(of input: [UInt8], piece: Int) -> [[UInt8]] {
        var cutter = LineCutter(maximum: ExportedLine.maximumBytes)
        var lines: [[UInt8]] = []
        for start in stride(from: 0, to: input.count, by: piece) {
            lines += cutter.cut(Array(input[start..<min(start + piece, input.count)]))
        }
        if let last = cutter.finish() { lines.append(last) }
        return lines
    }

    private static func check(_ line: [UInt8]) throws {
        let first: ExportedLine
        do throws(ExportedLine.Failure) {
            first = try ExportedLine(line, columns: columns, now: now)
        } catch {
            try require(!error.description.isEmpty, "a refusal without a reason")
            return
        }
        try require(line.count <= ExportedLine.maximumBytes, "a line that is too long is taken")
        try require(first.unknown.isDisjoint(with: columns.map(\.key)), "a column is unknown")
        let second = try again(first)
        let third = try again(second)
        try require(second == third, "an exported line does not come back: \(second.point) and \(third.point)")
        try require(first.entity == second.entity, "the entity changes")
        var (given, written) = (first.point, second.point)
        // Outside China there is only WGS 84.
        written.coordinateType = given.coordinateType
        // -1 means that the height is not known.
        if given.fix.altitude == -10 { given.fix.altitude = nil }
        try require(given == written, "the point changes: \(given) and \(written)")
    }

    /// The point as this server exports it, read once more.
    private static func again(_ line: ExportedLine) throws -> ExportedLine {
        let order = ExportOrder(from: now, through: now, coordinateType: line.point.coordinateType)
        let text = ExportLines(order, columns: columns).text(
            ExportedEntity(number: 1, name: line.entity), [StoredPoint(line.point, received: now)])
        try require(text.last == UInt8(ascii: "\n") && text.count { $0 == UInt8(ascii: "\n") } == 1, "not one line")
        do throws(ExportedLine.Failure) {
            return try ExportedLine(Array(text.dropLast()), columns: columns, now: now)
        } catch {
            throw Violation(description: "an exported line is refused: \(error)")
        }
    }
}
