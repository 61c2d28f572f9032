import Foundation
import ProgramTestKit
import Testing

/// Clients that know no other port than those of the published service, and a server that listens elsewhere.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.root, .networkNamespaces, .nftables)) struct PublishedPortTests {
    @Test func theShippedRulesSendThemOn() throws {
        let link = try PacketLink(seed: 1)
        let fleet = try Fleet(link: link)
        let server = try fleet.startServer()
        try #require(try ask(fleet) == nil, "without the rules nobody listens there")

        let shipped = try String(
            contentsOfFile: Recordings.repository + "/systemd/published-ports.nft", encoding: .utf8)
        try #require(shipped.contains("to :8443"), "the port of the sample")
        let rules = fleet.directory.file("rules.nft")
        try shipped.replacingOccurrences(of: ":8443", with: ":\(fleet.webPort)")
            .write(toFile: rules, atomically: true, encoding: .utf8)
        // The second time as well: nftables loads all its files anew whenever somebody reloads them.
        for _ in 1...2 {
            let loaded = try Program.run("/usr/bin/env", ["nft", "--file", rules], in: link.serverNetwork)
            #expect(loaded.status == 0, "\(loaded.all)")
        }
        #expect(try ask(fleet)?.contains("\"status\":") == true)
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }

    /// The answer to a client in the vehicle's network that names no port; nil: it finds nobody.
    private func ask(_ fleet: Fleet) throws -> String? {
        let asked = try Program.run(
            "/usr/bin/curl",
            [
                "--silent", "--max-time", "20", "--cacert", fleet.agent + "/ca.pem",
                "https://\(fleet.link?.serverHost ?? "")/api/v3/entity/list?service_id=1",
            ], in: fleet.link?.agentNetwork)
        return asked.status == 0 ? asked.output : nil
    }
}
