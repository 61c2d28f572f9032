import JSON
internal import LocalSocket
import NIOCore

/// Finds the interface and method of a request, and answers for those that do not exist.
final class VarlinkRouter {
    private let interfaces: [String: any VarlinkInterface]
    private var connections: UInt64 = 0

    init(service: VarlinkServiceInfo, interfaces: [any VarlinkInterface]) {
        let own = ServiceInterface(service: service, interfaces: interfaces)
        self.interfaces = Dictionary((interfaces + [own]).map { ($0.name, $0) }) { _, last in last }
    }

    /// A number that no other connection has.
    func makeConnectionNumber() -> UInt64 {
        connections += 1
        return connections
    }

    func answer(
        _ request: VarlinkRequest, peer: PeerCredentials, connection: VarlinkClientConnection? = nil,
        on loop: any EventLoop
    ) -> VarlinkAnswer {
        guard let dot = request.method.lastIndex(of: "."), request.method.utf8.count <= 256 else {
            return .failure(.invalidParameter("method"), on: loop)
        }
        let name = String(request.method[..<dot])
        let member = String(request.method[request.method.index(after: dot)...])
        guard let interface = interfaces[name] else { return .failure(.interfaceNotFound(name), on: loop) }
        guard interface.methods.contains(member) else { return .failure(.methodNotFound(request.method), on: loop) }
        let call = VarlinkCall(
            method: member, parameters: request.parameters, peer: peer, more: request.more, oneway: request.oneway,
            connection: connection)
        return interface.answer(call, on: loop)
    }
}

/// What `org.varlink.service.GetInfo` says.
package struct VarlinkServiceInfo: Hashable, Sendable {
    package var vendor: String
    package var product: String
    package var version: String
    package var url: String

    package init(vendor: String, product: String, version: String, url: String) {
        self.vendor = vendor
        self.product = product
        self.version = version
        self.url = url
    }
}

/// The interface that every Varlink service has: what is served here, and its descriptions.
final class ServiceInterface: VarlinkInterface {
    let name = "org.varlink.service"
    let methods: Set<String> = ["GetInfo", "GetInterfaceDescription"]
    let interfaceDescription = """
        # Every Varlink service has this interface: it tells what else is served.
        interface org.varlink.service

        # Who serves here, and which interfaces.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # The description of one interface, in this language.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # Nobody here speaks that interface.
        error InterfaceNotFound (interface: string)

        # The interface has no such method.
        error MethodNotFound (method: string)

        # The interface names the method, this service does not have it.
        error MethodNotImplemented (method: string)

        # A parameter is missing, unknown or of the wrong type.
        error InvalidParameter (parameter: string)

        # The caller may not do that.
        error PermissionDenied ()

        # The method streams and needs the flag `more`.
        error ExpectedMore ()

        """

    private let service: VarlinkServiceInfo
    private let descriptions: [String: String]

    init(service: VarlinkServiceInfo, interfaces: [any VarlinkInterface]) {
        self.service = service
        var descriptions = Dictionary(interfaces.map { ($0.name, $0.interfaceDescription) }) { _, last in last }
        descriptions[name] = interfaceDescription
        self.descriptions = descriptions
    }

    func answer(_ call: VarlinkCall, on loop: any EventLoop) -> VarlinkAnswer {
        switch call.method {
        case "GetInfo":
            if let unknown = call.parameters.keys.min() { return .failure(.invalidParameter(unknown), on: loop) }
            return .reply(
                loop.makeSucceededFuture([
                    "vendor": .string(service.vendor), "product": .string(service.product),
                    "version": .string(service.version), "url": .string(service.url),
                    "interfaces": .array(descriptions.keys.sorted().map(JSONValue.string)),
                ]))
        case "GetInterfaceDescription":
            if let unknown = call.parameters.keys.filter({ $0 != "interface" }).min() {
                return .failure(.invalidParameter(unknown), on: loop)
            }
            guard let asked = call.parameters["interface"]?.stringValue else {
                return .failure(.invalidParameter("interface"), on: loop)
            }
            guard let description = descriptions[asked] else {
                return .failure(.interfaceNotFound(String(asked.prefix(256))), on: loop)
            }
            return .reply(loop.makeSucceededFuture(["description": .string(description)]))
        default: return .failure(.methodNotImplemented("\(name).\(call.method)"), on: loop)
        }
    }
}
