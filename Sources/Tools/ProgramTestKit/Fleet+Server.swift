import Foundation

extension Fleet {
    // MARK: What the server has

    /// The file of the server's store.
    package var database: String { server + "/tracks.sqlite" }

    /// A Web API request with the real curl.
    package func web(_ path: String, _ parameters: [String: String], post: Bool = false) throws -> [String: Any] {
        let key = try String(contentsOfFile: agent + "/credentials/ak", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        var arguments = [
            "--silent", "--show-error", "--max-time", "20", "--cacert", agent + "/ca.pem",
            "https://\(link?.serverHost ?? "127.0.0.1"):\(webPort)/api/v3/\(path)",
        ]
        if !post { arguments.append("--get") }
        for (name, value) in parameters.merging(["ak": key, "service_id": "1"], uniquingKeysWith: { $1 }) {
            arguments += ["--data-urlencode", "\(name)=\(value)"]
        }
        let answer = try Program.run("/usr/bin/curl", arguments, in: link?.serverNetwork)
        try require(answer.status == 0, "\(answer.all)")
        return try require(
            try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any], answer.all)
    }

    package struct Stored: Hashable, Sendable {
        package let time: Int
        package let latitude: Double
        package let longitude: Double

        package init(time: Int, latitude: Double, longitude: Double) {
            self.time = time
            self.latitude = latitude
            self.longitude = longitude
        }
    }

    /// The stored track of some hours around a time, ascending.
    package func track(around time: Int) throws -> [Stored] {
        let answer = try web(
            "track/gettrack",
            [
                "entity_name": entity, "start_time": "\(time - 40_000)", "end_time": "\(time + 40_000)",
                "coord_type_output": "wgs84", "page_size": "5000",
            ])
        try require(answer["status"] as? Int == 0, "\(answer)")
        let points = try require(answer["points"] as? [[String: Any]], "\(answer)")
        return try points.map {
            Stored(
                time: try require($0["loc_time"] as? Int, "\($0)"),
                latitude: try require($0["latitude"] as? Double, "\($0)"),
                longitude: try require($0["longitude"] as? Double, "\($0)"))
        }
    }

    /// Points in the database, counted in its chunks. A point that was stored twice counts twice.
    package func rows() throws -> Int { try chunks().reduce(0) { $0 + $1.count } }

    package struct Chunk: Hashable, Sendable {
        /// Milliseconds.
        package let first: Int
        package let last: Int
        package let count: Int
        /// Merging has seen this chunk. Before, it is one batch, as it came.
        package let isSettled: Bool

        package init(first: Int, last: Int, count: Int, isSettled: Bool) {
            self.first = first
            self.last = last
            self.count = count
            self.isSettled = isSettled
        }
    }

    /// The chunks of the database in the order of storing.
    package func chunks() throws -> [Chunk] {
        let script = """
            import glob, json, sqlite3, sys
            path, = glob.glob(sys.argv[1] + "/*.sqlite")
            print(json.dumps(sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute(
                "SELECT first_time, last_time, count, settled FROM chunk ORDER BY id").fetchall()))
            """
        let answer = try Program.run("/usr/bin/env", ["python3", "-c", script, server])
        try require(answer.status == 0, answer.all)
        let rows = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [[Int]]
        return try require(rows, answer.all).map {
            Chunk(first: $0[0], last: $0[1], count: $0[2], isSettled: $0[3] != 0)
        }
    }
}
