internal import Logging

/// One message of the journal as a sentence: what happened, why, and about what.
///
/// `journalctl -u` and every forwarding to syslog show MESSAGE alone. So the details that programs find in fields are in the
/// sentence too: the reason behind a colon, the others in brackets.
enum JournalSentence {
    /// The keys that say why, the first one first.
    private static let reasons = ["reason", "error", "first_reason", "warning", "reasons"]
    /// The details that come first in the brackets.
    private static let first = ["entity", "service", "device", "address"]
    /// A detail in the brackets has at most so many bytes, and the whole sentence so many. The fields have all of them.
    private static let mostOfDetail = 200
    private static let most = 2048

    /// `fields`: without the message's id.
    static func text(_ message: String, _ fields: [(key: String, value: String)]) -> String {
        var text = capitalised(message)
        var rest = fields.filter { !$0.value.isEmpty }
        for key in reasons {
            guard let index = rest.firstIndex(where: { $0.key == key }) else { continue }
            let reason = rest.remove(at: index).value
            if !text.contains(reason) { text += ": " + reason }
        }
        func rank(_ key: String) -> Int { first.firstIndex(of: key) ?? first.count }
        let details = rest.enumerated().sorted { (rank($0.element.key), $0.offset) < (rank($1.element.key), $1.offset) }
            .map { name(of: $0.element.key) + " " + cut($0.element.value, to: mostOfDetail) }
        if !details.isEmpty { text += " (" + details.joined(separator: ", ") + ")" }
        return cut(oneLine(text), to: most)
    }

    private static func name(of key: String) -> String { String(key.map { $0 == "_" ? " " : $0 }) }

    /// A sentence begins with a capital, unless it begins with a program's name.
    private static func capitalised(_ message: String) -> String {
        let isName = ["saker", "gpsd"].contains { message.hasPrefix($0) }
        guard let letter = message.first, letter.isLowercase, !isName else { return message }
        return letter.uppercased() + message.dropFirst()
    }

    /// A line break in a value would look like another message, and a direction mark would hide what follows.
    private static func oneLine(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: ReadableText.isUnsafe) else { return text }
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { line.append(ReadableText.isUnsafe(scalar) ? " " : scalar) }
        return String(line)
    }

    private static func cut(_ text: String, to most: Int) -> String {
        guard text.utf8.count > most else { return text }
        return String(decoding: text.utf8.wholeCharacters(upTo: most - 3), as: UTF8.self) + "…"
    }
}
