package import JSON
package import NIOCore

/// One message as bytes, its closing NUL included. Copies share the bytes.
package struct VarlinkFrame: Hashable, Sendable {
    package let bytes: ByteBuffer

    init(_ message: [String: JSONValue]) {
        var serialized = JSONValue.object(message).serialized()
        serialized.append(0)
        bytes = ByteBuffer(bytes: serialized)
    }

    /// A reply that others follow.
    package init(continuing parameters: JSONValue) {
        self.init(["parameters": parameters, "continues": true])
    }

    /// The only or last reply.
    package init(last parameters: JSONValue) {
        self.init(["parameters": parameters])
    }

    package init(error: VarlinkError) {
        self.init(["error": .string(error.name), "parameters": .object(error.parameters)])
    }

    /// A call; `method` with its interface's name.
    package init(calling method: String, _ parameters: [String: JSONValue], more: Bool = false, oneway: Bool = false) {
        var message: [String: JSONValue] = ["method": .string(method), "parameters": .object(parameters)]
        if more { message["more"] = true }
        if oneway { message["oneway"] = true }
        self.init(message)
    }
}

/// Cuts a byte stream into messages. Pure; distrusts the sender's sizes.
struct MessageSplitter {
    enum Step: Hashable {
        /// A message without its NUL.
        case message([UInt8])
        /// The bytes so far hold no whole message.
        case incomplete
        /// The message that begins here is larger than allowed; nothing after it can be trusted.
        case tooLarge
    }

    let maximumMessageBytes: Int
    private(set) var buffer = ByteBuffer()
    /// Bytes at the front already searched for NUL, so that a message in many pieces is searched once.
    private var searched = 0

    init(maximumMessageBytes: Int) {
        self.maximumMessageBytes = maximumMessageBytes
    }

    var bufferedBytes: Int { buffer.readableBytes }

    mutating func append(_ bytes: inout ByteBuffer) {
        if buffer.readableBytes == 0 {
            // A message of a megabyte must not leave its storage behind.
            buffer = bytes
        } else {
            // Moving what is left costs no more than what was read: storage stays within twice what is buffered.
            if buffer.readerIndex >= buffer.readableBytes { buffer.discardReadBytes() }
            buffer.writeBuffer(&bytes)
        }
    }

    mutating func next() -> Step {
        let view = buffer.readableBytesView
        let start = view.index(view.startIndex, offsetBy: searched)
        guard let end = view[start...].firstIndex(of: 0) else {
            searched = view.count
            return searched > maximumMessageBytes ? .tooLarge : .incomplete
        }
        let length = view.distance(from: view.startIndex, to: end)
        guard length <= maximumMessageBytes, let message = buffer.readBytes(length: length) else { return .tooLarge }
        buffer.moveReaderIndex(forwardBy: 1)
        searched = 0
        if buffer.readableBytes == 0 { buffer = ByteBuffer() }
        return .message(message)
    }
}

/// An error as it travels in a Varlink reply: its full name and its parameters.
package struct VarlinkError: Error, Hashable, CustomStringConvertible {
    /// `interface.Name`, as in `org.varlink.service.MethodNotFound`.
    package let name: String
    package let parameters: [String: JSONValue]

    package init(name: String, parameters: [String: JSONValue] = [:]) {
        self.name = name
        self.parameters = parameters
    }

    package var description: String { "\(name) \(JSONValue.object(parameters))" }

    /// The names that `org.varlink.service` gives to what any service may answer.
    package static let interfaceNotFoundName = "org.varlink.service.InterfaceNotFound"
    package static let methodNotFoundName = "org.varlink.service.MethodNotFound"
    package static let methodNotImplementedName = "org.varlink.service.MethodNotImplemented"
    package static let invalidParameterName = "org.varlink.service.InvalidParameter"
    package static let expectedMoreName = "org.varlink.service.ExpectedMore"

    /// Nobody here speaks that interface.
    package static func interfaceNotFound(_ interface: String) -> Self {
        Self(name: interfaceNotFoundName, parameters: ["interface": .string(interface)])
    }

    /// The interface has no such method.
    package static func methodNotFound(_ method: String) -> Self {
        Self(name: methodNotFoundName, parameters: ["method": .string(method)])
    }

    /// The interface names the method, this service does not have it.
    package static func methodNotImplemented(_ method: String) -> Self {
        Self(name: methodNotImplementedName, parameters: ["method": .string(method)])
    }

    /// A parameter is missing, unknown or of the wrong type.
    package static func invalidParameter(_ parameter: String) -> Self {
        Self(name: invalidParameterName, parameters: ["parameter": .string(parameter)])
    }

    /// The method streams and was called without `more`.
    package static var expectedMore: Self { Self(name: expectedMoreName) }
}
