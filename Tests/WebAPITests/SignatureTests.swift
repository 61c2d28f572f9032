import Testing
import TrackStore

@testable import WebAPI

@Suite("Signatures")
struct SignatureTests {
    /// The vector that the vendor publishes.
    @Test func thePublishedVectorIsReproduced() {
        let query = "address=%E7%99%BE%E5%BA%A6%E5%A4%A7%E5%8E%A6&output=json&ak=yourak"
        let base = "/geocoder/v2/?\(query)yoursk"
        let digest = Signature.digest(FormEncoding.encoded(base.utf8, .php))
        #expect(String(decoding: digest, as: UTF8.self) == "7de5a22212ffaa9e326444c75a58f9a0")
    }

    private func get(_ query: String, path: String = "/api/v3/track/getlatestpoint") -> Signature.Subject {
        Signature.Subject(
            isPOST: false, paths: [path], query: Substring(query), bodyPairs: [], decoded: [])
    }

    private func post(_ body: String) throws -> Signature.Subject {
        let pairs = try FormEncoding.pairs(body)
        return Signature.Subject(
            isPOST: true, paths: ["/api/v3/entity/add"], query: "", bodyPairs: pairs,
            decoded: pairs.map { ($0.key, $0.value) })
    }

    @Test func aGETIsSignedInTheOrderSentWithoutItsSignature() {
        let signature = "85a09aaae7d85517868079886701f2d5"
        let query = "ak=demo-ak&service_id=4242&entity_name=van_07"
        for sent in ["\(query)&sn=\(signature)", "sn=\(signature)&\(query)", query] {
            #expect(Signature.verify(signature, of: get(sent), secret: "demo-sk"))
        }
        #expect(Signature.verify(signature.uppercased(), of: get(query), secret: "demo-sk"))
        #expect(!Signature.verify(signature, of: get(query), secret: "other"))
        #expect(!Signature.verify(signature, of: get(query + "&x=1"), secret: "demo-sk"))
        #expect(!Signature.verify("", of: get(query), secret: "demo-sk"))
    }

    /// Ways of writing that differ in nothing are hashed once, and all of them have a bound.
    @Test func aWrongSignatureCostsLittle() throws {
        let wrong = String(repeating: "0", count: 32)
        let plain = try post("ak=x&service_id=1&point_list=" + String(repeating: "abc%7B%22", count: 13_000))
        var budget = 8 << 20
        #expect(!Signature.verify(wrong, of: plain, secret: "s", budget: &budget))
        // Large and small hexadecimal digits, within and around.
        #expect((8 << 20) - budget < 5 * 300_000 && budget > 0, "\((8 << 20) - budget)")
        let all = try post("ak=x&service_id=1&point_list=" + String(repeating: "a~ !*()\u{E9}%7b", count: 9000))
        #expect(!Signature.verify(wrong, of: all, secret: "s", budget: &budget))
        budget = 8 << 20
        #expect(!Signature.verify("0", of: all, secret: "s", budget: &budget))
        #expect(budget == 8 << 20)
    }

    @Test func aPOSTIsSignedSortedByKey() throws {
        let signature = "974cc81a689d285ac41634aaa007cf1c"
        let body = "service_id=4242&entity_desc=%E8%93%9D%E8%89%B2%E8%B4%A7%E8%BD%A6&ak=demo-ak&entity_name=van_07"
        #expect(Signature.verify(signature, of: try post("\(body)&sn=\(signature)"), secret: "demo-sk"))
        // The same with small hexadecimal digits on the wire.
        #expect(Signature.verify(signature, of: try post(body.lowercased()), secret: "demo-sk"))
        #expect(!Signature.verify(signature, of: try post(body + "&z=1"), secret: "demo-sk"))
    }

    /// A client of each language signs with its own encoder, whatever it sends on the wire.
    @Test(arguments: FormEncoding.Style.allCases)
    func everyLanguagesEncoderIsAccepted(style: FormEncoding.Style) throws {
        let value = "a ~*!()'é/,b"
        func encode(_ text: String) -> String {
            String(decoding: FormEncoding.encoded(text.utf8, style), as: UTF8.self)
        }
        let base = "/api/v3/entity/add?ak=k&entity_name=\(encode(value))sk"
        let signature = String(decoding: Signature.digest(FormEncoding.encoded(base.utf8, style)), as: UTF8.self)
        let subject = Signature.Subject(
            isPOST: true, paths: ["/api/v3/entity/add"], query: "", bodyPairs: [],
            decoded: [("entity_name", value), ("ak", "k"), ("sn", signature)])
        #expect(Signature.verify(signature, of: subject, secret: "sk"))
    }

    /// Signs as a client does: the query of a GET, or the sorted body of a POST.
    private func sign(_ path: String, _ pairs: String) -> String {
        let base = "/api/v3/\(path)?\(pairs)demo-sk"
        return String(decoding: Signature.digest(FormEncoding.encoded(base.utf8, .go)), as: UTF8.self)
    }

    private func send(
        _ bench: Bench, _ method: String, _ target: String, body: String = "",
        type: String? = "application/x-www-form-urlencoded"
    ) async throws -> Int64? {
        try await bench.send(
            APIRequest(method: method, target: "/api/v3/\(target)", contentType: type, body: Array(body.utf8))
        ).status
    }

    /// Whoever reads one signed address in a log has not the key to the rest of the service.
    @Test func aCapturedAddressOpensNothingElse() async throws {
        let bench = try await Bench(secret: "demo-sk")
        for name in ["van", "bus"] { try await bench.upload(name, [try point(1_772_677_800, 30, 103)]) }
        let query = "ak=\(Bench.key)&service_id=1&entity_name=van"
        let signed = "track/getlatestpoint?\(query)&sn=\(sign("track/getlatestpoint", query))"
        #expect(try await send(bench, "GET", signed) == 0)
        let json = #"{"entity_name":"bus"}"#
        for method in ["GET", "POST", "HEAD"] {
            #expect(try await send(bench, method, signed, body: "entity_name=bus") == 211)
            #expect(try await send(bench, method, signed, body: json, type: "application/json") == 211)
            // Not even a body without parameters, which would make a POST's signature cover nothing.
            #expect(try await send(bench, method, signed, body: "&") == 211)
            #expect(try await send(bench, method, signed, body: "{}", type: "application/json") == 211)
        }
        // The same pairs, none added: the same request.
        #expect(try await send(bench, "POST", signed) == 0)
        #expect(try await send(bench, "GET", "\(signed)&entity_name=bus") == 211)
        #expect(try await send(bench, "GET", "\(signed)&%73n=1") == 211)
    }

    @Test func theQueryOfASignedPOSTIsNotTaken() async throws {
        let bench = try await Bench(secret: "demo-sk")
        let body = "ak=\(Bench.key)&entity_name=van&service_id=1"
        let sn = sign("entity/add", body)
        #expect(try await send(bench, "POST", "entity/add?entity_desc=mine", body: "\(body)&sn=\(sn)") == 211)
        #expect(try await send(bench, "POST", "entity/add?ak=\(Bench.key)", body: "\(body)&sn=\(sn)") == 211)
        #expect(try await bench.store.entity(named: "van", in: bench.service) == nil)
        // The signature itself may stand in either, and what has no value is not given.
        #expect(try await send(bench, "POST", "entity/add?entity_desc=&sn=\(sn)", body: body) == 0)
        #expect(try await bench.store.entity(named: "van", in: bench.service)?.description == "")
        // A key without a signing key takes parameters from both.
        let plain = try await Bench()
        #expect(try await send(plain, "POST", "entity/add?ak=\(Bench.key)&service_id=1", body: "entity_name=van") == 0)
    }

    @Test func aKeyWithASecretWantsASignatureAndOneWithoutIgnoresIt() async throws {
        let signed = try await Bench(secret: "demo-sk")
        #expect(try await signed.get("entity/list").status == 211)
        #expect(try await signed.get("entity/list", "sn=junk").status == 211)
        let query = "ak=\(Bench.key)&service_id=1&callback="
        let base = "/api/v3/entity/list?\(query)demo-sk"
        let signature = String(decoding: Signature.digest(FormEncoding.encoded(base.utf8, .go)), as: UTF8.self)
        let request = APIRequest(
            method: "GET", target: "http://yingyan.baidu.com/api/v3/entity/list?\(query)&sn=\(signature)")
        #expect(try await signed.send(request).status == 3003)
        #expect(try await Bench().get("entity/list", "sn=junk").status == 3003)
    }
}
