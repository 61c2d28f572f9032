import Foundation
import JSON
import NIOCore
import NIOPosix
import ProgramTestKit
import Synchronization
import Testing

@testable import ServerRuntime

/// The real server beside a road engine that fails in every way: no request fails because of roads.
@Suite(.timeLimit(.minutes(10)))
struct RoadProgramTests {
    private let directory: TemporaryDirectory
    private var home: String { directory.path + "/server" }
    private var configuration: String { home + "/server.toml" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// An engine that answers each connection with the same bytes, or with none.
    private final class Engine: Sendable {
        private final class Handler: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer
            private let engine: Engine

            init(_ engine: Engine) { self.engine = engine }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                engine.requests.add(1, ordering: .relaxed)
                guard let answer = engine.answer else { return }
                let channel = context.channel
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer))).whenComplete { _ in
                    channel.close(promise: nil)
                }
            }
        }

        let requests = Atomic<Int>(0)
        private let answer: String?
        private let channel = Mutex<(any Channel)?>(nil)
        var port: Int { channel.withLock { $0?.localAddress?.port ?? 0 } }

        /// Nil: it never answers.
        init(_ answer: String?) async throws {
            self.answer = answer
            let made = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { [self] channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Handler(self))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            channel.withLock { $0 = made }
        }

        func close() async { try? await channel.withLock { $0 }?.close() }
    }

    private static func http(_ body: String, length: Int? = nil) -> String {
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(length ?? body.utf8.count)\r\n\r\n\(body)"
    }

    @Test(arguments: [
        ("off", ""), ("slow", "hang"), ("dies in mid-answer", http("{\"version\":\"3.9", length: 5000)),
        ("no HTTP", "what?\r\n\r\n"), ("no JSON", http("<html>")),
        (
            "lies",
            http(
                #"{"version":"3.9.1","shape":"_p~iF~ps|U","edges":[{"begin_shape_index":9,"end_shape_index":-1}],"matched_points":[{"edge_index":99}]}"#
            )
        ),
        ("another version", http(#"{"version":7,"tileset_last_modified":"x"}"#)),
    ])
    func aTrackComesWhateverTheEngineDoes(_ name: String, _ answer: String) async throws {
        let engine = try await Engine(answer == "hang" ? nil : answer)
        if name == "off" { await engine.close() }
        let port = name == "off" ? try freePort() : engine.port
        let made = try await run(
            serverPath, ["init", "--directory", home, "--host", "127.0.0.1", "--https-port", "0", "--http-port", "0"])
        try #require(made.status == 0, "\(made.errors)")
        let key = try #require(made.output.firstMatch(of: /Access key \(ak\): ([0-9a-z]{32})\n/)).1
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
            .replacingOccurrences(of: "# port = 7443\n# Lowest", with: "port = 0\n# Lowest")
            .replacingOccurrences(of: "# url = \"http://127.0.0.1:8002\"", with: "url = \"http://127.0.0.1:\(port)\"")
            .replacingOccurrences(of: "# request_timeout = 2500", with: "request_timeout = 500")
        try text.write(toFile: configuration, atomically: true, encoding: .utf8)
        let portsFile = home + "/ports.json"
        let server = try RunningProcess(serverPath, ["serve", "--config", configuration, "--ports-file", portsFile])
        let data = try await eventually { FileManager.default.contents(atPath: portsFile) }
        let web = try #require(try JSONDecoder().decode([String: Int].self, from: data)["http"])
        func call(_ path: String, _ body: String) async throws -> JSONValue {
            let answer = try await run(
                "curl",
                [
                    "-s", "--noproxy", "*", "--max-time", "100", "http://127.0.0.1:\(web)/api/v3/\(path)", "-d",
                    "ak=\(key)&service_id=1&\(body)",
                ])
            return try JSONReader.value(of: Array(answer.output.utf8))
        }
        let start = 1_795_340_000
        let points = (0..<30).map { index in
            """
            {"entity_name":"van","latitude":\(47.1 + Double(index) / 1000),"longitude":9.5,"loc_time":\(start + index * 10),\
            "coord_type_input":"wgs84","radius":5}
            """
        }
        let added = try await call("track/addpoints", "point_list=[\(points.joined(separator: ","))]")
        try #require(added["success_num"] == 30, "\(added)")
        let range =
            "entity_name=van&start_time=\(start)&end_time=\(start + 3600)&coord_type_output=wgs84&page_size=5000"
        let plain = try await call("track/gettrack", range + "&is_processed=1&process_option=denoise_grade=1")
        for _ in 0..<7 {
            let matched = try await call(
                "track/gettrack",
                range + "&is_processed=1&process_option=denoise_grade=1,need_mapmatch=1&supplement_mode=driving")
            #expect(matched["status"] == 0, "\(name): \(matched)")
            #expect(matched["roads"]?["state"] == "unavailable", "\(name): \(matched["roads"] ?? .null)")
            #expect(matched["roads"]?["reason"]?.stringValue?.isEmpty == false, "\(name)")
            #expect(matched["total"] == plain["total"] && matched["distance"] == plain["distance"], "\(name)")
        }
        for path in ["track/getdistance", "track/getlatestpoint", "analysis/drivingbehavior"] {
            let answer = try await call(path, range + "&is_processed=1&process_option=need_mapmatch=1")
            #expect(answer["status"] == 0, "\(name) \(path): \(answer)")
        }
        if name != "off" { #expect(engine.requests.load(ordering: .relaxed) > 0, "\(name)") }
        server.send(SIGTERM)
        #expect(try await server.result().status == 0)
        await engine.close()
    }
}
