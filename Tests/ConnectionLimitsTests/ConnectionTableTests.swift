import ConnectionLimits
import NIOCore
import Testing
import TrackTestKit

@Suite struct ConnectionTableTests {
    private func table(_ connections: Int, perAddress: Int) -> ConnectionTable<Int> {
        ConnectionTable(.init(connections: connections, perAddress: perAddress))
    }

    @Test func upToItsLimitsEverybodyComesIn() {
        var table = table(3, perAddress: 2)
        #expect(table.enter(1, from: "a") == .admitted)
        #expect(table.enter(2, from: "a") == .admitted)
        #expect(table.enter(3, from: "b") == .admitted)
        #expect(table.count == 3)
    }

    @Test func theOldestStrangerOfTheAddressGoesForOneMoreOfIt() {
        var table = table(10, perAddress: 2)
        _ = table.enter(9, from: "b")
        _ = table.enter(1, from: "a")
        _ = table.enter(2, from: "a")
        #expect(table.enter(3, from: "a") == .replacing(1))
        #expect(table.enter(4, from: "a") == .replacing(2))
        #expect(table.count == 3)
    }

    @Test func theOldestStrangerOfAllGoesWhenThereIsNoRoom() {
        var table = table(2, perAddress: 2)
        _ = table.enter(1, from: "a")
        _ = table.enter(2, from: "b")
        #expect(table.enter(3, from: "c") == .replacing(1))
        // One that was replaced is not in anybody's way any more, and its end is no other's.
        table.leave(1)
        #expect(table.count == 2)
        #expect(table.enter(4, from: "a") == .replacing(2))
    }

    /// Nobody knows a newcomer before it has said who it is.
    @Test func strangersMayWaitInTheLobbyWhileAllOthersAreBusy() {
        var table = ConnectionTable<Int>(.init(connections: 2, perAddress: 9, lobby: 2))
        for id in 1...2 {
            #expect(table.enter(id, from: "a") == .admitted)
            table.note(id, .busy)
        }
        #expect(table.enter(3, from: "a") == .admitted)
        #expect(table.enter(4, from: "a") == .admitted)
        #expect(table.enter(5, from: "a") == .replacing(3))
        table.leave(4)
        table.note(1, .spare)
        #expect(table.enter(6, from: "a") == .admitted)
        table.note(5, .busy)
        table.note(6, .busy)
        #expect(table.enter(7, from: "a") == .replacing(1))
        table.note(7, .busy)
        #expect(table.enter(8, from: "a") == .refused(.connections))
    }

    @Test func whoRestsGoesAfterEveryStrangerAndWhoIsBusyNever() {
        var table = table(3, perAddress: 3)
        for id in 1...3 { _ = table.enter(id, from: "a") }
        table.note(1, .busy)
        table.note(2, .resting)
        #expect(table.enter(4, from: "b") == .replacing(3))
        table.note(4, .busy)
        #expect(table.enter(5, from: "b") == .replacing(2))
        table.note(5, .busy)
        #expect(table.enter(6, from: "b") == .refused(.connections))
        #expect(table.count == 3)
        table.leave(5)
        #expect(table.enter(6, from: "b") == .admitted)
    }

    @Test func oneOfSeveralGoesWhenEverybodyElseIsBusy() {
        var table = table(4, perAddress: 4)
        for id in 1...4 { _ = table.enter(id, from: "a") }
        table.note(1, .busy)
        table.note(2, .spare)
        table.note(3, .spare)
        table.note(4, .resting)
        #expect(table.enter(5, from: "b") == .replacing(4))
        table.note(5, .busy)
        #expect(table.enter(6, from: "b") == .replacing(2))
        table.note(6, .busy)
        // It is its client's only one now.
        table.note(3, .busy)
        #expect(table.enter(7, from: "b") == .refused(.connections))
    }

    @Test func anAddressWhoseConnectionsAreBusyGetsNoOthersPlace() {
        var table = table(3, perAddress: 1)
        _ = table.enter(1, from: "a")
        table.note(1, .busy)
        _ = table.enter(2, from: "b")
        #expect(table.enter(3, from: "a") == .refused(.perAddress))
        #expect(table.count == 2)
    }

    @Test func theOrderIsThatOfTheLastChange() {
        var table = table(2, perAddress: 2)
        _ = table.enter(1, from: "a")
        _ = table.enter(2, from: "b")
        table.note(1, .busy)
        table.note(1, .resting)
        table.note(2, .resting)
        // The same once more changes nothing.
        table.note(1, .resting)
        #expect(table.enter(3, from: "c") == .replacing(1))
        // Nothing is known of one that has gone.
        table.note(1, .busy)
        #expect(table.count == 2)
    }

    /// The plainest table: looks at everybody.
    private struct PlainTable {
        struct Entry {
            let id: Int
            let address: String
            var standing: ConnectionTable<Int>.Standing
            var since: Int
        }

        let connections: Int
        let perAddress: Int
        var entries: [Entry] = []
        var clock = 0

        mutating func enter(_ id: Int, from address: String) -> ConnectionTable<Int>.Entrance {
            clock += 1
            let near = entries.filter { $0.address == address }
            var entrance = ConnectionTable<Int>.Entrance.admitted
            if near.count >= perAddress {
                guard let victim = least(of: near) else { return .refused(.perAddress) }
                entrance = .replacing(victim)
            } else if entries.count >= connections {
                guard let victim = least(of: entries) else { return .refused(.connections) }
                entrance = .replacing(victim)
            }
            if case .replacing(let victim) = entrance { entries.removeAll { $0.id == victim } }
            entries.append(Entry(id: id, address: address, standing: .stranger, since: clock))
            return entrance
        }

        private func least(of some: [Entry]) -> Int? {
            some.filter { $0.standing != .busy }
                .min { ($0.standing.rawValue, $0.since) < ($1.standing.rawValue, $1.since) }?.id
        }
    }

    @Test func anyOrderOfEventsGivesWhatThePlainestTableGives() {
        let seed = UInt64.random(in: 0 ... .max)
        print("admission seed: \(seed)")
        var random = SplitMix(state: seed)
        for _ in 0..<200 {
            let (connections, perAddress) = (
                Int.random(in: 1...12, using: &random), Int.random(in: 1...6, using: &random)
            )
            var table = table(connections, perAddress: perAddress)
            var plain = PlainTable(connections: connections, perAddress: perAddress)
            for id in 0..<400 {
                switch Int.random(in: 0..<4, using: &random) {
                case 0, 1:
                    let address = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
                    #expect(table.enter(id, from: address) == plain.enter(id, from: address), "seed \(seed)")
                case 2:
                    let other = Int.random(in: 0...id, using: &random)
                    let standing = [ConnectionTable<Int>.Standing.stranger, .resting, .busy][
                        Int.random(in: 0..<3, using: &random)]
                    table.note(other, standing)
                    plain.clock += 1
                    for index in plain.entries.indices
                    where plain.entries[index].id == other && plain.entries[index].standing != standing {
                        (plain.entries[index].standing, plain.entries[index].since) = (standing, plain.clock)
                    }
                default:
                    let other = Int.random(in: 0...id, using: &random)
                    table.leave(other)
                    plain.entries.removeAll { $0.id == other }
                }
                #expect(table.count == plain.entries.count)
            }
        }
    }
}

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
