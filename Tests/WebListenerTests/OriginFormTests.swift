import Testing

@testable import WebListener

@Suite struct OriginFormTests {
    @Test(arguments: [
        ("/api/v3/entity/list?filter=a|%E4%BA%AC", "/api/v3/entity/list?filter=a|%E4%BA%AC"),
        ("http://yingyan.baidu.com/api/v3/entity/list?filter=a|%E4%BA%AC", "/api/v3/entity/list?filter=a|%E4%BA%AC"),
        ("HTTPS://[::1]:443/a?b=http://c/d", "/a?b=http://c/d"),
        ("http://host", "/"), ("http://host?a=/b", "/?a=/b"), ("http://", "/"),
        ("//host/a", "//host/a"), ("*", "*"), ("", ""), ("ftp://host/a", "ftp://host/a"), ("host:443", "host:443"),
    ])
    func onlyTheHostGoes(_ target: String, _ expected: String) {
        #expect(OriginForm.of(target) == expected)
    }
}
