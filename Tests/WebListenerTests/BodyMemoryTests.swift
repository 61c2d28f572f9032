import Testing
import TrackTestKit
import WebAPI

@testable import WebListener

/// A body of up to 8 MiB is read before anybody knows whether its key is good.
@Suite struct BodyMemoryTests {
    private static let head = "POST /api/v3/entity/add HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n"

    /// Twice as many as an address may connect, of 7 MB each: with nothing to stop them, 1.4 GB.
    @Test func theBodiesOfAllStrangersTakeNoMoreThanTheirBound() async throws {
        let counters = WebCounters()
        let memory = RequestMemoryLimit(RequestMemoryLimit.Limits(bytesWithoutKey: 16 << 20, bytesWithKey: 64 << 20))
        try await withListener(limits: WebListener.Limits(connectionsPerAddress: 5), memory: memory, counters: counters)
        { port in
            var clients: [RawClient] = []
            let body = String(repeating: "a", count: 7_000_000)
            for index in 0..<20 {
                let client = try await RawClient(port: port, from: "127.0.1.\(index / 10 + 1)")
                client.send(Self.head + body)
                clients.append(client)
            }
            let counted = Set(["memory", "replaced", "address"])
            try await withDeadline {
                // What is refused has been read and is gone: two of 7 MB have room, and at most so many of an address.
                while counters.ended.filter({ counted.contains($0.reason) }).map({ $0.count }).reduce(0, +) < 17 {
                    #expect(memory.bytes <= 16 << 20)
                    try await pause()
                }
            }
            #expect(memory.bytes <= 16 << 20)
            for client in clients { client.close() }
            try await withDeadline { while memory.bytes > 0 { try await pause() } }
        }
    }

    /// A body that is larger than each of theirs gets through, because together they hold more.
    @Test func manyBodiesOfOneAddressKeepNobodyElseOut() async throws {
        let memory = RequestMemoryLimit(RequestMemoryLimit.Limits(bytesWithoutKey: 4 << 20, bytesWithKey: 64 << 20))
        try await withListener(memory: memory) { port in
            var hoarders: [RawClient] = []
            for _ in 0..<20 {
                let client = try await RawClient(port: port, from: "127.0.1.1")
                client.send(Self.head + String(repeating: "a", count: 200_000))
                hoarders.append(client)
            }
            try await withDeadline { while memory.bytes < 4_000_000 { try await pause() } }
            let client = try await RawClient(port: port, from: "127.0.2.1")
            let form = "ak=\(accessKey)&service_id=1&entity_name=van&entity_desc="
            let padding = String(repeating: "&", count: 1_500_000 - form.utf8.count)
            client.send(
                "POST /api/v3/entity/add HTTP/1.1\r\nHost: x\r\nContent-Length: 1500000\r\n\r\n" + form + padding)
            try await client.untilReceived("HTTP/1.1 200 ")
            for client in hoarders + [client] { client.close() }
            try await withDeadline { while memory.bytes > 0 { try await pause() } }
        }
    }
}
