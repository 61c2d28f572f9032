internal import Glibc
package import Logging
internal import TrackModel

/// Writes swift-log messages for a person at a terminal or in a file: `2026-11-21T10:00:00Z info  link lost reason="no
/// route"`.
///
/// Each event is one line, whatever the values hold: what controls a terminal or is hidden is escaped, and a line ends
/// after 4 KiB. When a terminal or pipe does not take a line at once, the line is lost, and ``SystemLog/lostMessages``
/// counts it. Logging never stops the program.
package struct ReadableLogHandler: LogHandler {
    package var logLevel: Logger.Level = .info
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    /// A pipe takes so many bytes in one piece (PIPE_BUF), so lines of several threads do not mix.
    static let maximumLine = 4096
    private let descriptor: Int32

    /// Writes to an open file descriptor, by default standard error. The caller keeps it open.
    package init(descriptor: Int32 = STDERR_FILENO) {
        self.descriptor = descriptor
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let line = line(for: event, at: now.tv_sec)
        // If the write would wait, the line is dropped.
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&ready, 1, 0) == 1, ready.revents & Int16(POLLOUT) != 0,
            unsafe line.withUnsafeBytes({ unsafe write(descriptor, $0.baseAddress, $0.count) }) == line.count
        else {
            SystemLog.noteLoss()
            return
        }
    }

    /// The bytes of one line, including its end. `seconds` since 1970.
    func line(for event: LogEvent, at seconds: Int) -> [UInt8] {
        var text = Self.time(seconds) + " " + Self.name(of: event.level) + " "
        text += ReadableText.escaped(event.message.description)
        var pairs = EffectiveMetadata.of(event, handler: metadata, provider: metadataProvider)
            .filter { $0.key != MessageID.metadataKey }
            .map { (key: $0.key, value: "\($0.value)") }
        if let error = event.error { pairs.append(("error", "\(error)")) }
        for (key, value) in pairs {
            text += " " + ReadableText.escaped(key) + "=" + ReadableText.quotedIfNeeded(value)
        }
        guard text.utf8.count >= Self.maximumLine else { return Array(text.utf8) + [0x0A] }
        let start = text.utf8.wholeCharacters(upTo: Self.maximumLine - 4)
        return start + Array("…\n".utf8)
    }

    private static func name(of level: Logger.Level) -> String {
        switch level {
        case .trace: "trace"
        case .debug: "debug"
        case .info: "info "
        case .notice: "note "
        case .warning: "warn "
        case .error: "error"
        case .critical: "crit "
        }
    }

    private static func time(_ seconds: Int) -> String {
        var seconds = seconds
        var parts = unsafe tm()
        guard unsafe gmtime_r(&seconds, &parts) != nil else { return "\(seconds)" }
        func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
        let date = unsafe "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return unsafe date + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}

/// Escapes text so that it cannot break a line or control a terminal.
enum ReadableText {
    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var safe = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": safe += "\\n"
            case "\t": safe += "\\t"
            case _ where isUnsafe(scalar): safe += "\\u{\(String(scalar.value, radix: 16))}"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }

    /// The value in quotes if a reader could take it for more than one value.
    static func quotedIfNeeded(_ value: String) -> String {
        let plain = !value.isEmpty && !value.unicodeScalars.contains { " \"=\\".unicodeScalars.contains($0) }
        if plain { return escaped(value) }
        var quoted = ""
        for scalar in value.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(scalar)
        }
        return "\"\(escaped(quoted))\""
    }

    /// All that Unicode calls control and format, and what else nobody sees.
    static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isHidden { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
