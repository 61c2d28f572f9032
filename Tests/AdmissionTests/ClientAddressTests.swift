import Admission
import NIOCore
import Testing

@Suite struct ClientAddressTests {
    private func group(_ text: String) throws -> String {
        ClientAddress.group(try SocketAddress(ipAddress: text, port: 1))
    }

    @Test func aNetworkOfOneClientCountsAsOne() throws {
        #expect(try group("2001:db8:1:2::1") == group("2001:db8:1:2:ffff::9"))
        #expect(try group("2001:db8:1:2::1") != group("2001:db8:1:3::1"))
        #expect(try group("192.0.2.1") != group("192.0.2.2"))
    }

    @Test func iPv4ThroughAnIPv6SocketIsTheSameClient() throws {
        #expect(try group("::ffff:192.0.2.1") == group("192.0.2.1"))
        #expect(try group("::ffff:192.0.2.1") != group("::ffff:192.0.2.2"))
    }

    @Test func clientsOfAUnixSocketAreOneGroup() throws {
        #expect(ClientAddress.group(try SocketAddress(unixDomainSocketPath: "/x")) == ClientAddress.group(nil))
    }

    @Test(arguments: [
        ("2001:db8:1:2::7", "20:1:d:b8:0:1::/48"), ("2001:db8:1:ffff::", "20:1:d:b8:0:1::/48"), ("192.0.2.1", nil),
        ("::ffff:192.0.2.1", nil),
    ])
    func aSiteIsTheFirst48BitsOfAnIPv6Address(text: String, site: String?) throws {
        #expect(ClientAddress.site(try SocketAddress(ipAddress: text, port: 1)) == site)
    }
}
