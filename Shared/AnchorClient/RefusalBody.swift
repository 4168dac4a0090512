import Foundation

/// The body of a refusal: the current form `{errors: [{title, status, detail}]}` or the one of 2022 `{message}`.
struct RefusalBody: Decodable {
    struct Item: Decodable {
        var title: String?
        var detail: String?
    }

    var errors: [Item]?
    var message: String?

    /// Reads what can be read; a body of any other form says nothing.
    static func read(_ body: Data) -> RefusalBody {
        (try? JSONDecoder().decode(RefusalBody.self, from: body)) ?? RefusalBody(errors: nil, message: nil)
    }

    /// Everything said, for finding the code.
    ///
    /// Not for logs: details may quote what was sent.
    var text: String {
        let parts = (self.errors ?? []).flatMap { [$0.title, $0.detail] } + [self.message]
        return parts.compactMap { $0 }.joined(separator: " ")
    }

    /// The first title, reduced to letters and spaces so that no value can hide in it.
    var title: String {
        let title = self.errors?.first?.title ?? ""
        let kept = title.unicodeScalars.filter { $0 == " " || ($0.isASCII && $0.properties.isAlphabetic) }
        return String(String.UnicodeScalarView(kept).prefix(64))
    }
}
