import Glibc
import Testing

@testable import ServerRuntime

@Suite struct FileLimitTests {
    @Test func theSoftLimitBecomesTheHardOne() {
        let allowed = FileLimit.raise()
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        #expect(limit.rlim_cur == limit.rlim_max)
        #expect(allowed == UInt64(limit.rlim_cur))
        // A second time there is nothing left to raise.
        #expect(FileLimit.raise() == allowed)
    }
}
