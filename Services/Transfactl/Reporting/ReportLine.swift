/// One line of the report for machines; fields that say nothing are left out.
struct ReportLine: Encodable {
    enum Kind: String, Encodable {
        case step
        case exchange
        case event
        case note
        case check
        case failure
        case result
    }

    let kind: Kind
    var text: String?
    var request: String?
    var requestBody: String?
    var status: Int?
    var answer: String?
    var requestID: String?
    var event: String?
    var source: String?
    var subject: String?
    var sequence: Int64?
    var handled: [String: String]?
    var holds: Bool?
    var figures: String?
    var failedChecks: Int?
    var checks: Int?

    init(_ kind: Kind, text: String? = nil) {
        self.kind = kind
        self.text = text
    }

    private enum CodingKeys: String, CodingKey {
        case kind
        case text
        case request
        case requestBody = "request_body"
        case status
        case answer
        case requestID = "request_id"
        case event
        case source
        case subject
        case sequence
        case handled
        case holds
        case figures
        case failedChecks = "failed_checks"
        case checks
    }
}
