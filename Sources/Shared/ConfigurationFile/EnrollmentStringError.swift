/// Why a pasted line is no usable enrolment string. Never quotes the line: it holds a key.
package struct EnrollmentStringError: Error, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case notAnEnrollmentString
        case newerVersion
        case truncated
        case damaged
        case invalid
    }

    package let code: Code
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }
    package var description: String { detail }
}
