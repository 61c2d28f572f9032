/// The configuration file as it is installed: every key, commented out at its default, with what it means.
///
/// config/server.toml is this text; a test compares the two.
package enum ServerSample {
    package static let text = """
        # saker-server: every key it knows, with its unit, default and range. A key that is commented out shows its default.
        # A key that is not listed here is an error that names the nearest one that is. `saker-server serve --print-config`
        # shows the values in force. A file name without a leading / starts from this file's own directory.

        [store]
        # The database, one SQLite file; made when it is missing. Its directory must be writable and on a local disk.
        # path = "tracks.sqlite"
        # What a commit waits for: "full" (every acknowledged point survives a power cut) or "normal" (a power cut may take
        # the last commits; the file stays sound).
        # synchronous = "full"
        # Queries that read at the same time, 1 ... 64.
        # readers = 4
        # Check the file before serving. Reads all of it: about a second a gigabyte.
        # check_at_start = true
        # The file grows no further than this, bytes, or 0 for no limit, 0 ... 1125899906842624. Then points are refused.
        # maximum_bytes = 0
        # Seconds between rounds of merging small pieces into large ones, or 0 for none, 0 ... 86400.
        # merge_interval = 60

        [device]
        # Address on which agents are awaited: "0.0.0.0" for every IPv4 address, "::" for IPv6 and IPv4.
        # host = "0.0.0.0"
        # Its TCP port, 0 ... 65535; 0 lets the kernel choose.
        # port = 7443
        # Lowest TLS version to accept from agents: "1.3" or "1.2".
        # minimum_tls = "1.3"
        # Agents connected at one time, 1 ... 1000000. Each takes a file descriptor.
        # connections = 50000
        # Of these from one address, 1 ... 1000000. A fleet often shares the addresses of its mobile operator.
        # connections_per_address = 10000
        # Seconds of silence after which an agent sends a heartbeat, 10 ... 3600.
        # heartbeat_interval = 60
        # Certificate authorities of the fleet's own vehicles, a PEM file: with it only agents that show a certificate of theirs
        # get in (client_certificate in agent.toml). Read again with the server's certificate.
        # client_ca = "fleet-ca.pem"

        [gateway]
        # What an agent may ask of the Web API through its connection, without an access key: "entity" (the data of the
        # entity it is logged in as) or "service" (whatever a key of its service may).
        # call_policy = "entity"

        [web]
        # Offer the Web API over HTTPS, at this address and TCP port (0 ... 65535; 0 lets the kernel choose).
        # https = true
        # https_host = "0.0.0.0"
        # https_port = 8443
        # Offer it over plain HTTP too. Keys and tracks then travel readable: open it beyond this machine ("0.0.0.0") only
        # for clients that know no TLS, in a network you trust.
        # http = true
        # http_host = "127.0.0.1"
        # http_port = 8080
        # Lowest TLS version to accept: "1.2" or "1.3".
        # minimum_tls = "1.2"
        # Seconds for a whole request to arrive, for the next piece of an answer to be taken, and between two requests,
        # 1 ... 3600.
        # timeout = 30
        # Connections at one time on each of the two ports, 1 ... 100000; more wait.
        # connections = 1000
        # Most bytes of all headers of a request, 1024 ... 1048576.
        # header_bytes = 65536

        [api]
        # Zone of the formatted times in answers, minutes east of UTC, -1439 ... 1439. Existing clients expect Beijing's 480.
        # utc_offset = 480
        # Status of an entity list that matches nothing: 3003 as the published service answers, or 0.
        # empty_list_status = 3003
        # Refuse a call made with another method (GET or POST) than the documented one.
        # strict_methods = false
        # Seconds that a point may be ahead of this machine's clock, 0 ... 86400.
        # future_tolerance = 600
        # Seconds that a point may be old when the Web API takes it, or 0 for any age, 0 ... 3153600000.
        # maximum_age = 0
        # Most points of one entity in the time range of one query, as uploaded and processed, 1 ... 10000000.
        # maximum_points = 200000
        # maximum_processed_points = 20000

        [tls]
        # The server's certificate with its chain, and its private key without a password: PEM files. Under systemd a
        # credential "tls-key" that is not empty takes the key's place. Both are read again on reload (SIGHUP), and by themselves
        # when the files have changed: new connections get the new certificate, open ones go on. A pair that does not fit
        # together is refused and the one before stays in use.
        # certificate = "server.pem"
        # key = "server-key.pem"
        # The certificate authority that agents are told to trust in enrolment strings: a PEM file. Without it they trust the
        # authorities of their systems.
        # ca = "ca.pem"

        [enrollment]
        # What enrolment strings tell agents about this server: the name or address under which they reach it,
        # host = "tracks.example.net"
        # the port when it is not the one in [device] (behind a router that maps ports), 1 ... 65535,
        # port = 7443
        # and the base address of the Web API when it is not https://HOST:HTTPS_PORT.
        # web_address = "https://tracks.example.net"

        [metrics]
        # Answer GET /metrics here, over plain HTTP and to everyone who reaches it: "127.0.0.1:9443", "[::1]:9443", another
        # address in a network you trust, or the path of a Unix socket. Not unless set. What is in it: docs/metrics.md.
        # listen = "127.0.0.1:9443"

        [log]
        # Least severity to log: "trace", "debug", "info", "notice", "warning", "error" or "critical". Read again on reload.
        # level = "info"

        [shutdown]
        # Seconds that an orderly end may take, 1 ... 600: requests are answered, what agents have sent is stored.
        # time_limit = 15

        """

    /// The sample with some keys set; each must be in it.
    static func text(setting values: [(table: String, key: String, value: String)]) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (table, key, value) in values {
            guard let start = lines.firstIndex(of: "[\(table)]") else { continue }
            let section = lines[start...].dropFirst().prefix { !$0.hasPrefix("[") }
            let found = section.indices.first { lines[$0].hasPrefix("# \(key) = ") }
            if let found { lines[found] = "\(key) = \(value)" }
        }
        return lines.joined(separator: "\n")
    }
}
