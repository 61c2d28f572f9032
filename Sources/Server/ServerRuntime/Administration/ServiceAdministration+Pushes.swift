import FoundationEssentials
import JSON
import TrackModel
package import TrackStore

// Messages of the fleet's operator to its vehicles, and the history of all pushes.
extension ServiceAdministration {
    /// Queues a message; a running server sees it within a second, another one when it starts.
    ///
    /// `entities` nil: all that the service has now. `lifetime` in milliseconds.
    package func push(
        _ body: String, type: UInt32, to entities: [String]?, lifetime: Int64, in service: Int64
    ) async throws(ServerError) -> QueuedPush {
        let id = try await known(service)
        guard PushRules.messages.contains(type) else {
            let range = PushRules.messages
            throw ServerError(
                .usage,
                "type \(type) is not for messages: give \(range.lowerBound) to \(range.upperBound); those below are alarms and "
                    + "the system's own")
        }
        guard (1...PushRules.history).contains(lifetime) else {
            throw ServerError(.usage, "a message may be delivered for at most 7 days: give a shorter lifetime, above 0")
        }
        let push = NewPush(
            type: type, body: try Self.checked(body: body),
            targets: entities.map { .entities($0) } ?? .service, lifetime: lifetime)
        if let problem = push.problem { throw ServerError(.usage, problem) }
        do throws(TrackStoreError) {
            let queued = try await store.queuePush(push, in: id, at: SystemClock.now())
            acts.note(.pushSend, in: id, about: "type \(type) to \(entities?.joined(separator: ", ") ?? "all")")
            return queued
        } catch {
            guard error.code == .unknownEntity else { throw ServerError(error) }
            throw ServerError(
                .notFound, "\(error.detail); nothing is queued. An entity is made by its first login, or by entity/add")
        }
    }

    /// As one line, without the white space between its parts; read by the reader that agents have.
    static func checked(body: String) throws(ServerError) -> String {
        let value: JSONValue
        do {
            value = try JSONReader.value(of: Array(body.utf8))
        } catch {
            throw ServerError(
                .usage, "the message is \(error): give a JSON object such as {\"text\":\"Call the office\"}, or --text")
        }
        guard case .object = value else {
            throw ServerError(
                .usage, "the message is \(value.kind): it must be a JSON object such as {\"text\":\"Call the office\"}")
        }
        return value.description
    }

    /// The newest first, at most `limit`; `total` is how many there are.
    package func pushes(
        of service: Int64, matching filter: PushFilter, limit: Int
    ) async throws(ServerError) -> (total: Int, pushes: [PushReport]) {
        let id = try await known(service)
        let now = SystemClock.now()
        do throws(TrackStoreError) {
            let found = try await store.pushes(
                in: id, matching: filter, at: now, page: Page(offset: 0, limit: limit))
            return (found.total, found.pushes.map { PushReport($0, now: now) })
        } catch {
            throw ServerError(error)
        }
    }
}

/// A push as an administrator is told of it.
package struct PushReport: Sendable {
    package let record: PushRecord
    package let state: PushRecord.State

    init(_ record: PushRecord, now: Timestamp) {
        self.record = record
        state = record.state(at: now)
    }

    /// When its state began, as far as there is such a moment.
    package var since: String? {
        switch state {
        case .waiting: nil
        case .delivered: record.acknowledged.map(TimeText.universal)
        case .givenUp: record.givenUp.map(TimeText.universal)
        case .expired: TimeText.universal(record.expires)
        case .withdrawn: record.withdrawn.map(TimeText.universal)
        }
    }

    package var created: String { TimeText.universal(record.push.created) }

    /// One line; times are milliseconds since 1970.
    package var json: String {
        let push = record.push
        var members: [String: JSONValue] = [
            "id": .integer(Int64(clamping: push.id)), "message": .integer(push.message),
            "entity": .string(record.entity), "type": .integer(Int64(push.type)),
            "body": (try? JSONReader.value(of: Array(push.body.utf8))) ?? .string(push.body),
            "state": .string(state.rawValue), "created": .integer(push.created.milliseconds),
            "expires": .integer(record.expires.milliseconds),
        ]
        members["acknowledged"] = record.acknowledged.map { .integer($0.milliseconds) }
        members["given_up"] = record.givenUp.map { .integer($0.milliseconds) }
        members["withdrawn"] = record.withdrawn.map { .integer($0.milliseconds) }
        return JSONValue.object(members).description
    }
}
