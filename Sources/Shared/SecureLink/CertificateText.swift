internal import COpenSSL
internal import Glibc

/// Texts of a certificate, for details shown to people: cut to a readable length, without control characters.
enum CertificateText {
    static func subject(of certificate: OpaquePointer) -> String? {
        unsafe quoted(X509_get_subject_name(certificate))
    }

    /// The issuer that the certificate names.
    static func issuer(of certificate: OpaquePointer) -> String? {
        unsafe quoted(X509_get_issuer_name(certificate))
    }

    private static func quoted(_ name: OpaquePointer?) -> String? {
        guard let name = unsafe name, unsafe X509_NAME_entry_count(name) > 0 else { return nil }
        return unsafe printed { unsafe saker_X509_NAME_print($0, name) }
            .map { "\"\($0)\"" }
    }

    /// The subject alternative names: `DNS:a.example, IP Address:192.0.2.1`.
    static func names(of certificate: OpaquePointer) -> String? {
        let index = unsafe X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)
        guard index >= 0, let names = unsafe X509_get_ext(certificate, index) else { return nil }
        return unsafe printed { unsafe X509V3_EXT_print($0, names, 0, 0) }
    }

    /// `2026-11-21T10:00:00Z`.
    static func utc(_ seconds: Int64) -> String {
        var moment = Int(seconds)
        var parts = unsafe tm()
        guard unsafe gmtime_r(&moment, &parts) != nil else { return "\(seconds) s" }
        return unsafe utc(parts)
    }

    fileprivate static func utc(_ parts: tm) -> String {
        func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
        let date = unsafe "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return unsafe date + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }

    private static func printed(_ print: (OpaquePointer) -> Int32) -> String? {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { return nil }
        defer { unsafe BIO_free(bio) }
        guard unsafe print(bio) >= 0 else { return nil }
        var bytes: UnsafeMutablePointer<CChar>?
        let count = unsafe saker_BIO_get_mem_data(bio, &bytes)
        guard let bytes = unsafe bytes, count > 0 else { return nil }
        let text = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        return unsafe String(decoding: text, as: UTF8.self).printable(limit: 200)
    }
}

extension UnsafePointer<ASN1_TIME>? {
    /// Seconds since 1970; nil when the certificate's time cannot be read.
    var seconds: Int64? {
        guard var parts = unsafe parts else { return nil }
        return unsafe Int64(timegm(&parts))
    }

    var text: String { unsafe parts.map { unsafe CertificateText.utc($0) } ?? "a time that cannot be read" }

    private var parts: tm? {
        var parts = unsafe tm()
        guard let time = self, unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return unsafe parts
    }
}
