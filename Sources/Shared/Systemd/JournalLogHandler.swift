package import Logging

/// Writes swift-log messages to the journal: the message as a sentence with its reason and its details (``JournalSentence``), and
/// the metadata in fields, for programs.
///
/// The metadata `message_id` (32 hexadecimal digits, see ``MessageID``) becomes MESSAGE_ID. Any other key becomes
/// `SAKER_` and the key in capitals: `entity` becomes SAKER_ENTITY.
package struct JournalLogHandler: LogHandler {
    package var logLevel: Logger.Level = .info
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let identifier: String
    private let journal: Journal

    /// - Parameters:
    ///   - label: the logger's label, for SAKER_LOGGER.
    ///   - identifier: the program's name, for `journalctl -t`.
    ///   - journal: the journal that all loggers of the process share.
    package init(label: String, identifier: String, journal: Journal) {
        self.label = label
        self.identifier = identifier
        self.journal = journal
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var entry = JournalEntry()
        let fields = EffectiveMetadata.of(event, handler: metadata, provider: metadataProvider)
        var details = fields.filter { $0.key != MessageID.metadataKey }.map { (key: $0.key, value: "\($0.value)") }
        if let error = event.error { details.append(("error", "\(error)")) }
        entry.append("MESSAGE", JournalSentence.text(event.message.description, details))
        entry.append("PRIORITY", JournalEntry.priority(of: event.level))
        entry.append("SYSLOG_IDENTIFIER", identifier)
        entry.append("CODE_FILE", event.file)
        entry.append("CODE_LINE", "\(event.line)")
        entry.append("CODE_FUNC", event.function)
        entry.append("SAKER_LOGGER", label)
        if let error = event.error { entry.append("SAKER_ERROR", "\(error)") }
        for (key, value) in fields {
            let text = "\(value)"
            if key == MessageID.metadataKey, MessageID.isWellFormed(text) {
                entry.append("MESSAGE_ID", text)
            } else {
                entry.append(JournalEntry.fieldName(forKey: key), text)
            }
        }
        journal.send(entry)
    }
}

/// Merges metadata by priority: the log statement's first, then the handler's, then the provider's. Sorted by key.
enum EffectiveMetadata {
    static func of(
        _ event: LogEvent, handler: Logger.Metadata, provider: Logger.MetadataProvider?
    ) -> [(key: String, value: Logger.Metadata.Value)] {
        var all = provider?.get() ?? [:]
        all.merge(handler) { _, new in new }
        if let own = event.metadata { all.merge(own) { _, new in new } }
        return all.sorted { $0.key < $1.key }
    }
}
