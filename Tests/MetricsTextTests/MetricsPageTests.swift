import Testing

@testable import MetricsText

@Suite struct MetricsPageTests {
    private func text(_ page: MetricsPage) -> String { String(decoding: page.text, as: UTF8.self) }

    @Test func samplesStandUnderTheirHelpAndType() {
        let counter = Metric("saker_x_total", .counter, labels: ["reason"], "What was lost.")
        let gauge = Metric("saker_y_bytes", .gauge, "Size.")
        var page = MetricsPage()
        page.add(counter, 3, "full")
        page.add(gauge, 12.5)
        page.add(counter, UInt64(4), "torn")
        #expect(
            text(page) == """
                # HELP saker_x_total What was lost.
                # TYPE saker_x_total counter
                saker_x_total{reason="full"} 3
                saker_x_total{reason="torn"} 4
                # HELP saker_y_bytes Size.
                # TYPE saker_y_bytes gauge
                saker_y_bytes 12.5

                """)
    }

    @Test func aNameCannotLeaveItsQuotes() {
        let metric = Metric("saker_x", .gauge, labels: ["a", "b"], "one\\two\nthree \"four\"")
        var page = MetricsPage()
        page.add(metric, true, "\"} 1\nevil 2", "C:\\货车")
        #expect(
            text(page) == """
                # HELP saker_x one\\\\two\\nthree "four"
                # TYPE saker_x gauge
                saker_x{a="\\"} 1\\nevil 2",b="C:\\\\货车"} 1

                """)
    }

    @Test func theUnknownIsAbsent() {
        let metric = Metric("saker_x", .gauge, "X.")
        var page = MetricsPage()
        page.add(metric, ifKnown: Int?.none)
        page.add(metric, ifKnown: Double?.none)
        #expect(page.text.isEmpty)
        page.add(metric, ifKnown: 7 as Int?)
        #expect(text(page).hasSuffix("saker_x 7\n"))
    }

    @Test(arguments: [
        (0.0, "0"), (-0.0, "0"), (1, "1"), (-3, "-3"), (0.25, "0.25"), (1e-7, "1e-07"),
        (9_007_199_254_740_992, "9007199254740992.0"), (1.5e300, "1.5e+300"), (.infinity, "+Inf"),
        (-.infinity, "-Inf"), (.nan, "NaN"), (1_795_219_200.25, "1795219200.25"),
    ])
    func numbersAreWrittenAsPrometheusReadsThem(value: Double, text: String) {
        #expect(MetricsPage.text(value) == text)
        #expect(value.isNaN || Double(text.replacing("Inf", with: "inf")) == value)
    }

    @Test func aHistogramIsCumulative() {
        var histogram = Histogram(bounds: [0.1, 1])
        for value in [0.05, 0.1, 0.5, 1.5, 99] { histogram.record(value) }
        histogram.record(.nan)
        histogram.record(Duration.milliseconds(250))
        var page = MetricsPage()
        page.add(Metric("saker_t_seconds", .histogram, labels: ["way"], "Time."), histogram, "http")
        #expect(
            text(page) == """
                # HELP saker_t_seconds Time.
                # TYPE saker_t_seconds histogram
                saker_t_seconds_bucket{way="http",le="0.1"} 2
                saker_t_seconds_bucket{way="http",le="1"} 4
                saker_t_seconds_bucket{way="http",le="+Inf"} 6
                saker_t_seconds_sum{way="http"} 101.4
                saker_t_seconds_count{way="http"} 6

                """)
        #expect(histogram.count == 6)
    }

    @Test func thisProcessUsesSomething() throws {
        let usage = ProcessUsage.read()
        #expect(usage.cpuSeconds > 0)
        #expect(try #require(usage.residentBytes) > 1 << 20)
    }
}
