/// A refusal in the provider's form: `{errors: [{title, status, detail}]}`.
struct Refusal: Error, Sendable, Hashable {
    var status: Int
    var title: String
    var detail: String

    static func badRequest(_ detail: String) -> Refusal {
        Refusal(status: 400, title: "Bad Request", detail: detail)
    }

    static func notFound(_ what: String) -> Refusal {
        Refusal(status: 404, title: "Not found", detail: "\(what) was not found")
    }

    static func conflict(_ detail: String) -> Refusal { Refusal(status: 409, title: "Conflict", detail: detail) }

    static func precondition(_ detail: String) -> Refusal {
        Refusal(status: 412, title: "Precondition Failed", detail: detail)
    }

    static let unauthorised = Refusal(
        status: 401,
        title: "Unauthorized",
        detail: "The API key is missing, invalid or expired."
    )

    static func fault(status: Int, saying words: String? = nil) -> Refusal {
        Refusal(status: status, title: "Fault", detail: words ?? "Asked for by a fault switch.")
    }

    var json: JSON {
        // The status is text in this format.
        [
            "errors": [
                ["title": .string(self.title), "status": .string(String(self.status)), "detail": .string(self.detail)]
            ]
        ]
    }
}
