/// The configuration file as it is installed: every key, commented out at its default, with what it means.
///
/// config/server.toml is this text; a test compares the two.
package enum ServerSample {
    package static let text = """
        # The configuration of saker-server: every key with its meaning, unit, range and default. A key that is commented out shows
        # its default. saker-server refuses a key that is not listed here and names the nearest one that is.
        # `saker-server serve --print-config` shows the values in force. A file name without a leading / is relative to the
        # directory of this file.

        [store]
        # The database: one SQLite file, which the server makes if it is missing. Its directory must be writable and on a local disk.
        # path = "tracks.sqlite"
        # What a commit waits for. "full": every acknowledged point survives a power cut. "normal": a power cut may take the last
        # commits, but the file stays sound.
        # synchronous = "full"
        # Queries that read at the same time, 1 ... 64.
        # readers = 4
        # Check the whole file before serving. This takes about one second for each gigabyte.
        # check_at_start = true
        # Most bytes of the file, 0 ... 1125899906842624; 0 for no limit. At the limit the server refuses points.
        # maximum_bytes = 0
        # Seconds between rounds of merging small chunks of points into large ones, 0 ... 86400; 0 for no merging.
        # merge_interval = 60

        [device]
        # Address on which the server waits for agents: "0.0.0.0" for every IPv4 address, "::" for IPv6 and IPv4.
        # host = "0.0.0.0"
        # TCP port for agents, 0 ... 65535; 0 lets the kernel choose.
        # port = 7443
        # Lowest TLS version that the server accepts from agents: "1.3" or "1.2".
        # minimum_tls = "1.3"
        # Most agents that are connected at one time, 1 ... 1000000. Each needs a file descriptor.
        # connections = 50000
        # Most of these from one address, 1 ... 1000000. The vehicles of a fleet often share the addresses of their mobile operator.
        # connections_per_address = 10000
        # After so many seconds of silence an agent sends a heartbeat, 10 ... 3600.
        # heartbeat_interval = 60
        # PEM file with the certificate authorities of the fleet's vehicles. With it, only agents with a certificate of these
        # authorities may log in (client_certificate in agent.toml). The server reads it again together with its certificate.
        # client_ca = "fleet-ca.pem"

        [gateway]
        # What an agent may ask of the Web API through its connection, without an access key. "entity": the data of the entity that
        # it is logged in as. "service": everything that a key of its service may ask.
        # call_policy = "entity"

        [web]
        # Offer the Web API over HTTPS, at this address and TCP port (0 ... 65535; 0 lets the kernel choose).
        # https = true
        # https_host = "0.0.0.0"
        # https_port = 8443
        # Offer the Web API over plain HTTP too. Keys and tracks are then readable on the network. Use an address of other machines
        # ("0.0.0.0") only for clients without TLS, in a network that you trust.
        # http = true
        # http_host = "127.0.0.1"
        # http_port = 8080
        # Lowest TLS version that the server accepts from clients: "1.2" or "1.3".
        # minimum_tls = "1.2"
        # Most seconds for a whole request to arrive, for a client to take the next piece of an answer, and between two requests,
        # 1 ... 3600.
        # timeout = 30
        # Most connections at one time on each of the two ports, 1 ... 100000. Further connections wait.
        # connections = 1000
        # Most bytes of all headers of a request, 1024 ... 1048576.
        # header_bytes = 65536

        [api]
        # Time zone of formatted times in answers, minutes east of UTC, -1439 ... 1439. Existing clients expect Beijing's 480.
        # utc_offset = 480
        # Status of an entity list that matches nothing: 3003, as the published service answers, or 0.
        # empty_list_status = 3003
        # Refuse a call with another method (GET or POST) than the documented one.
        # strict_methods = false
        # Most seconds that a point may be ahead of this machine's clock, 0 ... 86400.
        # future_tolerance = 600
        # Most seconds that a point may be old when it comes through the Web API, 0 ... 3153600000; 0 for any age.
        # maximum_age = 0
        # Most points of one entity in the time range of one query, for queries of points as uploaded and of processed points,
        # 1 ... 10000000.
        # maximum_points = 200000
        # maximum_processed_points = 20000

        [tls]
        # The server's certificate with its chain, and its private key without a password: PEM files. Under systemd a credential
        # "tls-key" that is not empty replaces the key file. The server reads both again on reload (SIGHUP), and when the files have
        # changed. New connections use the new certificate; open connections go on. If certificate and key do not match, the server
        # keeps the former pair.
        # certificate = "server.pem"
        # key = "server-key.pem"
        # PEM file with the certificate authority that enrolment strings tell agents to trust. Without it agents trust the
        # authorities of their systems.
        # ca = "ca.pem"

        [enrollment]
        # What enrolment strings tell agents about this server. The name or address under which agents reach the server:
        # host = "tracks.example.net"
        # The port, if it is not the one in [device] because a router maps ports, 1 ... 65535:
        # port = 7443
        # The base address of the Web API, if it is not https://HOST:HTTPS_PORT:
        # web_address = "https://tracks.example.net"

        [metrics]
        # Answer GET /metrics at this address, over plain HTTP and to everybody who reaches it: "127.0.0.1:9443", "[::1]:9443",
        # another address in a network that you trust, or the path of a Unix socket. Default: no address. docs/metrics.md describes
        # the metrics.
        # listen = "127.0.0.1:9443"

        [log]
        # Least severity to log: "trace", "debug", "info", "notice", "warning", "error" or "critical". Read again on reload.
        # level = "info"

        [shutdown]
        # Most seconds of an orderly stop, 1 ... 600. The server first answers open requests and stores what agents have sent.
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
