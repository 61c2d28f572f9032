import Compression
import FenceDelivery
import FenceJSON
import FoundationEssentials
import Geofencing
import JSON
import TrackModel
import TrackWire

/// What server and vehicle tell each other of fences: deliveries of fences one way, reports of alarms the other way.
enum AlarmProperties {
    /// Longer inputs than libFuzzer makes would only be slower.
    private static let mostBytes = 1 << 20

    /// First byte: bit 0, whether the rest is the content as it is or must still be compressed; the others, how many parts.
    @Sendable static func checkDelivery(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let choice = reader.byte()
        let plain = Array(reader.rest)
        guard plain.count <= mostBytes else { return }
        let packed = choice & 1 == 1 ? plain : try Zlib.compress(plain, level: 1)
        let whole = try delivery(of: packed, parts: 1)
        let parts = try delivery(of: packed, parts: Int(choice >> 1) % 8 + 1)
        try require(whole == parts, "a delivery depends on its parts")
        guard let whole else { return }
        // A fence has a number, a time and a shape; nothing of it is shorter than a byte.
        try require(
            choice & 1 == 1 || whole.fences.count + whole.removed.count <= plain.count,
            "\(whole.fences.count) fences of \(plain.count) bytes")
        for fence in whole.fences {
            try require(fence.fence.id > 0, "a fence has the number \(fence.fence.id)")
            // As the vehicle makes it ready; without the zone of its hours a fence is refused.
            let zone = ZoneOffsets(first: 3600, changes: [])
            do throws(FenceError) {
                _ = try fence.plan(zone: zone)
            } catch {
                throw Violation(description: "fence \(fence.fence.id) is read and cannot be judged: \(error)")
            }
        }
        let sent: [FenceUpdate]
        do throws(FenceDeliveryError) {
            sent = try whole.updates()
        } catch {
            throw Violation(description: "what was read cannot be sent: \(error)")
        }
        var again = FenceDeliveryReader()
        var read: FenceDelivery?
        do throws(FenceDeliveryError) {
            for update in sent { read = try again.take(update)?.unpacked() }
        } catch {
            throw Violation(description: "what was sent cannot be read: \(error)")
        }
        try require(read == whole, "a delivery changes on its way")
    }

    /// Nil when it was refused, with a reason.
    private static func delivery(of packed: [UInt8], parts: Int) throws(Violation) -> FenceDelivery? {
        let outcome = taken(packed, parts: parts)
        switch outcome {
        case .success(let delivery?): return delivery
        case .success(nil): throw Violation(description: "a delivery is not whole after its last part")
        case .failure(let error):
            try require(!error.description.isEmpty, "a delivery is refused without a reason")
            return nil
        }
    }

    private static func taken(_ packed: [UInt8], parts: Int) -> Result<FenceDelivery?, FenceDeliveryError> {
        let size = max(1, (packed.count + parts - 1) / parts)
        let pieces = stride(from: 0, to: max(1, packed.count), by: size).map {
            packed[min($0, packed.count)..<min($0 + size, packed.count)]
        }
        return Result { () throws(FenceDeliveryError) in
            var reader = FenceDeliveryReader()
            var delivery: FenceDelivery?
            for (number, piece) in pieces.enumerated() {
                var update = FenceUpdate()
                (update.version, update.base) = (7, 3)
                (update.part, update.parts) = (UInt32(number), UInt32(pieces.count))
                update.content = Data(piece)
                delivery = try reader.take(update)?.unpacked()
            }
            return delivery
        }
    }

    /// The text of an alarm, as a vehicle reports it and a server's push has it.
    @Sendable static func checkReport(_ input: [UInt8]) throws {
        guard let json = try? JSONReader.value(of: input) else { return }
        let body: AlarmBody
        do throws(FenceJSONError) {
            body = try AlarmBody(json: json)
        } catch {
            try require(!error.description.isEmpty, "an alarm is refused without a reason")
            return
        }
        try require(
            body.fence > 0 && body.revision > 0, "an alarm of the fence \(body.fence), revision \(body.revision)")
        try require(body.skipped >= 0 && (body.point.accuracy ?? 0) >= 0, "a number below 0: \(body)")
        try require((body.previous?.accuracy ?? 0) >= 0, "an accuracy below 0: \(body)")
        // What the server keeps is what it tells others: it is read as the same alarm.
        let text = body.text(most: .max)
        guard let value = try? JSONReader.value(of: Array(text.utf8)) else {
            throw Violation(description: "what was written is no JSON: \(text)")
        }
        let again: String
        do throws(FenceJSONError) {
            again = try AlarmBody(json: value).text(most: .max)
        } catch {
            throw Violation(description: "what was written is refused: \(error): \(text)")
        }
        try require(again == text, "\(text) is read as \(again)")
        // The parameters go first when the text is too long.
        let short = body.text(most: 1)
        try require(short.utf8.count <= text.utf8.count, "the short text is longer: \(short)")
    }
}
