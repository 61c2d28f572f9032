/// The event that a log message tells about: MESSAGE_ID in the journal. Each is 128 random bits and never changes.
///
/// Give it to a log statement as metadata: `metadata: ["message_id": "\(MessageID.linkLost)", …]`. docs/journal.md
/// explains each event and its fields. `journalctl -x` shows the explanation from systemd/saker.catalog.
package enum MessageID: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    // Agent and server
    case programStarted = "9995919b48e2429bafa91058dbcaec38"
    case programStopping = "9bc6bff045af4c12b7d0f65a66130d17"
    case configurationReloaded = "c34ccfc8050247f7954a356e262d4472"
    case configurationRefused = "c0cf9b41be5944d297a80f27a8308979"
    case credentialWarning = "4564183715914f0f8050be624f3ca876"

    // The agent
    case serviceStarted = "671d2a691f7c46eaa883362eb9095aa1"
    case serviceStopped = "ee52e029b9724cba983f45c5939c2c83"
    case gatherStarted = "2187ba8073eb42369791ef21c1a84984"
    case gatherStopped = "a47404271d304ccfb499f44f9e5e6648"
    case receiverDates = "5f0d6a1c7b9e4c53a2e8417f60d3b92c"
    case linkOnline = "c72d3e6e72484fef974ce53864145fcf"
    case linkLost = "88d7e27262374b2bb8c7f9e192a565f6"
    case loginRefused = "8852d79638a244f683c67040a2936eaa"
    case cacheMemoryFallback = "82a92fc276a14541bdb9e7d5349d5b0d"
    case cacheReturned = "df17e0b9758746f9a159d3c0da92db0c"
    case cacheDropped = "b861341bc11b474fa8fb6788f05c8809"
    case cacheRecovered = "0b4a0358a8364eafb1a25a966c08a9b7"
    case computerChanged = "c08fe56737a8413aa76c323894134e41"
    case entityChanged = "3fd1c6b28e5b4c0f9a7742d05be8c916"
    case feedState = "adadf70a409240fa9bbdfcc37f444ba8"
    case clockState = "b24cfd5d017b4c4d992d9f06f63d477a"
    case hookFailed = "0ea1ac7f34104f0ba19103ec107401b5"
    case vehicleParked = "2698f344898945f6a454047e31af128d"
    case vehicleMoves = "46613ed65fbb4809b8d7504a4f03ae00"
    case alarmReceived = "fc8d07ddaf614adfb8bebc3ff2b6ca17"
    case alarmJournalFailed = "9ddd9d30764746dba2cbf425edc8b663"
    case alarmJournalReturned = "e292891c3a72414aaca0cab71ad5de25"
    case stateNotRemembered = "5d0c1f4e6a3b4d7c9e21b7a8304f6d15"
    case stateRemembered = "c8b7ad3917f24be0a5d46f02e1938c7b"
    case controlSocketFailed = "109fc3c1e3e2bdb92bbacee4551d2bb5"
    case controlSocketOpened = "7e62dc1ec9e01b03f62042b45c2edb61"
    case pointsMissing = "b7c2f5a84d1e4f0392a6d8e15c704b3f"
    case pointsReturned = "4e19d0c6a3754b8fb1f27c9e60d8352a"

    // The server
    case gatewayListening = "7d450802019e41a2bcbf2446b6303558"
    case apiListening = "7269d384c52c4fcbb9ddded24462db3e"
    case sessionRefused = "11213f22f64f4498a1403106d972bbf1"
    case certificateReloaded = "1a1e4425e58c4556aca7225c3300bd7f"
    case certificateRefused = "9c17c3ab8f7e4f38927c647f2bb72fee"
    case certificateEnding = "478340f6e1f440ecab71b2caad22ccbd"
    case storeFailed = "361297c52be04d86818bb5f459a0be85"
    case storeRecovered = "33e6f7ef8f2e45db92130267bbd9124d"
    case clockWrong = "4d2953ea5c874b1ca92d852a8bb347c2"
    case deviceCloned = "d5fcc3cbe55b42bca2d3499e94f5c540"
    case streamShared = "10e2d1f8e0234136a078c484d6b7bb71"
    case pointsUnreadable = "dbcd82b8a38b0a173432de6502e9c548"
    case commitsLost = "bce01c3c3c1517eff1ebf662304ac671"
    case clockRight = "72e200b4f33f4b1b8dfb66be62890a51"
    case callbacksFailing = "433cb4cbab464035988cdcf11f7d1654"
    case callbacksWorking = "011f1669e6c84a69921a3cd9951a1fe3"
    case callbacksGivenUp = "cd71284bfdf04e78b351ca0ae461cc0b"
    case exportFailing = "296f31c7edbc487d8c7eeaaf612ad8b0"
    case roadsFailing = "6c04becec67175e9a5d04478fa094aff"
    case roadsWorking = "4077b63b4a48d8d2c7ddb9c53315412f"
    case certificateRenewed = "b0c86f1f5d6a4f0e9d51c2a37e84b6f9"
    case deviceClaim = "6d3f0b1e9a5c4c27b8e4f7d20c91a53b"
    case administrativeAct = "f3b6a1d0c94e4f7a8e52d76b19c0a4e8"

    /// The metadata key that becomes MESSAGE_ID.
    package static let metadataKey = "message_id"

    /// 32 hexadecimal digits.
    package var description: String { rawValue }

    /// Whether the journal accepts a text as MESSAGE_ID.
    static func isWellFormed(_ text: String) -> Bool {
        text.utf8.count == 32
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
                default: false
                }
            }
    }
}
