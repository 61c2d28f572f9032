package import TrackModel

package struct ServiceRecord: Hashable, Sendable {
    package var id: ServiceID
    package var name: String
    package var created: Timestamp
    /// A second value that a login (`app_code`) and a request (`mcode`) must present beside a key; nil: none.
    package var appCode: String?
    package var retention: Retention
    package var answers: AnswerForms

    package init(
        id: ServiceID, name: String, created: Timestamp, appCode: String? = nil, retention: Retention = .standard,
        answers: AnswerForms = AnswerForms()
    ) {
        self.id = id
        self.name = name
        self.created = created
        self.appCode = appCode
        self.retention = retention
        self.answers = answers
    }
}
