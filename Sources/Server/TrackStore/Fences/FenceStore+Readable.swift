package import TrackModel

/// A page of fences, without those that cannot be read.
package struct ReadableFences: Sendable {
    package var total = 0
    package var fences: [FenceRecord] = []
    /// Why some fences of the page are missing, a sentence each.
    package var problems: [String] = []
}

extension FenceStore {
    /// As ``fences(in:matching:page:)``, and a fence that cannot be read hides no other one.
    package func readableFences(
        in service: ServiceID, matching filter: FenceFilter, page: Page
    ) async throws(TrackStoreError) -> ReadableFences {
        var found = ReadableFences()
        try await read(page, in: service, matching: filter, into: &found)
        return found
    }

    /// Halves a page until the fence that cannot be read is alone.
    private func read(
        _ page: Page, in service: ServiceID, matching filter: FenceFilter, into found: inout ReadableFences
    ) async throws(TrackStoreError) {
        do throws(TrackStoreError) {
            let read = try await fences(in: service, matching: filter, page: page)
            found.total = read.total
            found.fences += read.fences
        } catch {
            guard error.code == .corrupt, page.limit > 0 else { throw error }
            let total = try await fences(in: service, matching: filter, page: Page(offset: 0, limit: 0)).total
            found.total = total
            guard page.limit > 1 else {
                found.problems.append(error.detail)
                return
            }
            let limit = min(page.limit, max(1, total - page.offset))
            // A page of one fence is as small as it gets.
            guard limit > 1 else {
                return try await read(Page(offset: page.offset, limit: 1), in: service, matching: filter, into: &found)
            }
            let half = limit / 2
            try await read(Page(offset: page.offset, limit: half), in: service, matching: filter, into: &found)
            try await read(
                Page(offset: page.offset + half, limit: limit - half), in: service, matching: filter, into: &found)
        }
    }
}
