internal import ConfigurationFile
internal import FenceDelivery
internal import TrackModel
internal import TrackWire

/// What a login says of this agent, beside the entity and the ring.
struct Login: Hashable {
    let service: ServiceID
    let accessKey: Secret
    let applicationCode: Secret?
    /// Why no login is possible; nil when one is.
    let trouble: String?
    /// Names the present start of the computer, 16 bytes; empty: unknown.
    let boot: [UInt8]

    /// `boot`: as ``BootName`` reads it.
    init(_ configured: AgentConfiguration.Service, boot: String?) {
        service = configured.id
        accessKey = configured.accessKey
        applicationCode = configured.applicationCode
        trouble = configured.secretTrouble
        self.boot = boot.map(BootName.bytes) ?? []
    }

    /// Without an access key the certificate of the vehicle says who it is. A key that cannot be read is no missing key.
    var isDevice: Bool { accessKey.revealed.isEmpty && trouble == nil }

    /// `fences`: the version of the server's fences that the agent has for the entity.
    func hello(as entity: String, with ring: RingEnds, fences version: UInt64) -> Hello {
        var hello = Hello()
        hello.protocol = WireLimits.protocolVersion
        hello.serviceID = service.rawValue
        hello.ak = accessKey.revealed
        hello.appCode = applicationCode?.revealed ?? ""
        hello.entity = entity
        hello.agentVersion = SakerVersion.text
        hello.streamID = ring.stream
        hello.firstSequence = ring.first
        hello.nextSequence = ring.next
        hello.fenceFormat = FenceDelivery.format
        hello.fenceVersion = version
        hello.bootBytes = boot
        return hello
    }
}
