/// What the statuses of the Web API mean, and what to do about them.
enum Refusal {
    /// A sentence without its end; nil for a status that this program does not know.
    static func text(_ status: Int64) -> String? {
        switch status {
        case 1: "the server failed; its log says why"
        case 2: "a value breaks a rule"
        case 3: "the request needs another HTTP method"
        case 10: "the request is larger than 8 MiB"
        case 101, 200...203: "the access key is not accepted: check --ak-file or SAKER_AK"
        case 210, 220, 230: "the access key may not be used from here"
        case 211: "this access key needs signed requests, and saker does not sign: use another key"
        case 240: "this is not allowed"
        case 260: "the server does not know this request"
        case 301, 302, 401, 402: "the key's quota is used up: try later"
        case 2001: "a track column of this name exists already"
        case 2002: "the column's name is reserved"
        case 2003: "the service has too many track columns"
        case 3003: "there is no such entity (saker entity list shows all entities)"
        case 3005: "an entity of this name exists already"
        case 3006: "there are too many points in this time: ask for a shorter time"
        case 3007: "the request is not UTF-8"
        case 3100: "a point's time is too far in the future"
        case 3101: "there are too many points in one request"
        case 3200: "the time is longer than a day"
        case 3201: "the end of the time lies before its beginning"
        case 4005: "the service does not exist, or the key belongs to another service: check --service-id"
        case 7001: "an entity column of this name exists already"
        case 7002: "there is no entity column of this name"
        case 9001: "there are too many points to analyse in this time: ask for a shorter time"
        default: nil
        }
    }
}
