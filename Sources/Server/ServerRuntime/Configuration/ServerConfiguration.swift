package import ConfigurationFile
package import Ingest
package import Logging
package import MetricsText
package import TrackModel
import WebAPI

/// What the configuration file says; config/server.toml documents every key with unit, default and range.
package struct ServerConfiguration: Sendable {
    package struct Store: Hashable, Sendable {
        package var path: String
        package var synchronous: Synchronous
        package var readers: Int
        package var isCheckedAtStart: Bool
        /// Bytes; nil for no limit.
        package var maximumBytes: Int64?
        /// Seconds between rounds of merging; nil for none.
        package var mergeInterval: Int?
        /// Days for which a service keeps its points when it says nothing else; nil: for ever.
        package var retentionDays: Int?
        /// Take points by a clock that is more than a day behind what is stored.
        package var clockMayGoBack: Bool
        /// Holds the key that signing keys are encrypted with; nil: they are readable in the store.
        package var keyFile: String?
    }

    package enum Synchronous: String, CaseIterable, Sendable {
        case full, normal
    }

    package struct Device: Hashable, Sendable {
        package var host: String
        package var port: Int
        package var minimumTLS: MinimumTLS
        package var connections: Int
        package var connectionsPerAddress: Int
        /// Seconds.
        package var heartbeatInterval: Int
        /// Devices must show a certificate of an authority in this file; nil: they need none.
        package var clientAuthority: String?
        /// The authority of the devices' own certificates; nil: there are no devices with such.
        package var authority: String?
        /// Its key, which signs the certificates of devices that claim an identity; nil without an authority.
        package var authorityKey: String?
        /// The key's file beside the authority, unless the configuration names another.
        static let authorityKeyName = "device-ca-key.pem"
    }

    /// What devices may do beside uploading.
    package struct Gateway: Hashable, Sendable {
        package var callPolicy: DevicePolicy
    }

    package struct Web: Hashable, Sendable {
        package struct Listener: Hashable, Sendable {
            package var host: String
            package var port: Int
        }

        /// Nil: not offered.
        package var https: Listener?
        package var http: Listener?
        package var minimumTLS: MinimumTLS
        /// Seconds.
        package var timeout: Int
        package var connections: Int
        package var connectionsPerAddress: Int
        package var headerBytes: Int
        /// Of requests of all connections that have not shown a valid key, and of all that have.
        package var bytesWithoutKey: Int
        package var bytesWithKey: Int
    }

    package struct API: Hashable, Sendable {
        /// Minutes east of UTC.
        package var zoneMinutes: Int
        package var emptyListStatus: Int
        package var strictMethods: Bool
        /// Seconds.
        package var futureTolerance: Int
        /// Seconds; nil for any age.
        package var maximumAge: Int?
        package var maximumRawPoints: Int
        package var maximumProcessedPoints: Int
        /// Requests of one key in a day, and at the same time; nil for any number.
        package var dailyQuota: Int?
        package var concurrentRequests: Int?
        /// `fence/list` writes vertices as one text.
        package var hasFenceVerticesAsText: Bool
        /// `entity/delete` of an entity that is not there is done.
        package var deletesUnknownEntities: Bool
    }

    /// Alarms of fences that go to operators' URLs.
    package struct Callbacks: Hashable, Sendable {
        /// The URL may lead to this machine and to private networks.
        package var takesPrivateAddresses: Bool
        /// Authorities of URLs' certificates, beside those of the system; nil: none.
        package var authorities: String?
    }

    /// Files with the points of a service.
    package struct Exports: Hashable, Sendable {
        package var directory: String
        /// Seconds that the end of an export's range must be past.
        package var minimumAge: Int
        /// Who has the address of a file may read it without a key.
        package var arePublic: Bool
        /// Times of jobs are 14 digits.
        package var hasTimesAsDigits: Bool
        /// MiB of the files of one service's exports, and of all.
        package var serviceLimit: Int
        package var limit: Int
    }

    /// The road engine that brings tracks to roads.
    package struct Roads: Hashable, Sendable {
        /// Begins with `http://` or `https://`, without a slash at its end.
        package var url: String
        /// Milliseconds of one call, and of all calls for one request.
        package var timeout: Int
        package var requestTimeout: Int
        /// Calls under way at a time.
        package var concurrency: Int
        package var drivingCosting: DrivingCosting
        /// Whom answers with roads name as their source; empty for nobody.
        package var attribution: String
        package var showsGrades: Bool

        /// What the fleet's vehicles are, in the engine's words.
        package enum DrivingCosting: String, CaseIterable, Sendable {
            case auto, truck, bus
            case motorScooter = "motor_scooter"
        }
    }

    /// What is computed from tracks.
    package struct Analysis: Hashable, Sendable {
        /// How entities travel when the client leaves it open.
        package enum TransportMode: String, CaseIterable, Sendable {
            case driving, detect
        }

        /// Above this a step between two points is no movement.
        package var kilometresAnHour: Int
        package var transportMode: TransportMode
        /// Of the straight line, where no route is known.
        package var supplementFactor: Double
        package var keptBytes: Int
    }

    package struct TLS: Hashable, Sendable {
        package var certificate: String
        package var key: String
        /// What agents trust; nil: the authorities of their systems.
        package var authority: String?

        /// Certificate and key, which are replaced together.
        var files: CertificateFiles { CertificateFiles(certificate: certificate, key: key) }
    }

    /// What enrolment strings tell agents about this server.
    package struct EnrolmentOptions: Hashable, Sendable {
        package var host: String?
        package var port: Int?
        package var webAddress: String?
    }

    package var store: Store
    package var device: Device
    package var gateway: Gateway
    package var web: Web
    package var api: API
    package var callbacks: Callbacks
    package var exports: Exports
    /// Nil: there is no road engine.
    package var roads: Roads?
    package var analysis: Analysis
    package var tls: TLS
    package var enrolment: EnrolmentOptions
    package var logLevel: Logger.Level
    /// Where the metrics are read; nil: nowhere.
    package var metrics: MetricsAddress?
    /// Seconds that an orderly end may take.
    package var shutdownLimit: Int
    /// What the file and the defaults come to, for `--print-config`.
    package var effective: EffectiveConfiguration

    /// Where a configuration is looked for when none is named, in this order.
    package static let usualPaths = ["/etc/saker/server.toml", "/var/lib/saker-server/server.toml"]
}

extension ServerConfiguration.Analysis {
    /// The same for the Web API.
    var options: AnalysisOptions {
        AnalysisOptions(
            speedCap: Double(kilometresAnHour), detectsTravel: transportMode == .detect,
            supplementFactor: supplementFactor, keptBytes: keptBytes)
    }
}
