internal import Logging
internal import Systemd

extension Logger.Metadata {
    /// The fields of an entry that operators look for by its kind.
    static func event(_ kind: MessageID, _ fields: Logger.Metadata = [:]) -> Logger.Metadata {
        fields.merging(["message_id": "\(kind.rawValue)"]) { $1 }
    }
}
