import Testing

@testable import TrackStore

@Suite struct RetentionTests {
    @Test func aTextSaysHowLong() {
        #expect(Retention("1") == .days(1) && Retention("36500") == .days(36_500))
        #expect(Retention("forever") == .forever && Retention("default") == .standard)
        for text in ["0", "36501", "-1", "", "90d", "Forever", " 90"] { #expect(Retention(text) == nil, "\(text)") }
        for retention in [Retention.days(7), .forever, .standard] { #expect(Retention("\(retention)") == retention) }
    }

    @Test func theDefaultIsThatOfTheConfiguration() {
        #expect(Retention.standard.days(standard: 30) == 30 && Retention.standard.days(standard: nil) == nil)
        #expect(Retention.forever.days(standard: 30) == nil && Retention.days(7).days(standard: 30) == 7)
    }
}
