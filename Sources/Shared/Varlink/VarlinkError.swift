package import JSON

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
