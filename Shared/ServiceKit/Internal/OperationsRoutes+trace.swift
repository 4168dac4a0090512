import Foundation
import Hummingbird
import Messaging
import Primitives

/// `GET /internal/ops/trace`: what happened here under some correlations, for the trace that console puts together.
extension OperationsRoutes {
    /// Names of a kind in one question, so that it fits into a path.
    static let mostTraced = 50

    func addTrace(to ops: RouterGroup<AppRequestContext>) {
        ops.get("/trace") { request, _ in
            let question = TraceQuestion(
                correlations: try Self.ids(request, "correlations"),
                jobs: try Self.ids(request, "jobs"),
                references: try Self.words(request, "references")
            )
            return InternalRoutes.json(.ok, try await self.operations.traced(question))
        }
    }

    private static func ids(_ request: Request, _ parameter: String) throws(APIError) -> [UUID] {
        var ids: [UUID] = []
        for word in try Self.words(request, parameter) {
            guard let id = UUID(text: word) else {
                throw .invalid(parameter: parameter, detail: "Ids (UUIDs) with commas between them.")
            }
            ids.append(id)
        }
        return ids
    }

    private static func words(_ request: Request, _ parameter: String) throws(APIError) -> [String] {
        guard let text = request.uri.queryParameters.get(parameter) else { return [] }
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard words.count <= Self.mostTraced, words.allSatisfy(Self.isName) else {
            throw .invalid(
                parameter: parameter,
                detail: "1 to \(Self.mostTraced) names of letters, digits and - _ . :, with commas between them."
            )
        }
        return words
    }

    private static func isName(_ word: String) -> Bool {
        (1...128).contains(word.utf8.count)
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                    UInt8(ascii: ":"):
                    true
                default: false
                }
            }
    }
}
