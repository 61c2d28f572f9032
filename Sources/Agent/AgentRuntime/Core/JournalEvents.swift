internal import Logging
internal import Systemd

extension Logger.Metadata {
    /// The fields of a message about an event of docs/journal.md. Operators find such a message by its `MESSAGE_ID`.
    static func event(_ kind: MessageID, _ fields: Logger.Metadata = [:]) -> Logger.Metadata {
        fields.merging(["message_id": "\(kind.rawValue)"]) { $1 }
    }
}
