import HTTPTypes
public import Hummingbird
public import Messaging
import Primitives

extension Request {
    /// Who acts: the header `Transfa-Operator`, in the one spelling that this person has.
    ///
    /// The internal token says that the caller may act, this says in whose name.
    ///
    /// - Throws: 400 with the header.
    public func operatorName() throws(APIError) -> String {
        let header = "Transfa-Operator"
        guard let field = HTTPField.Name(header), let text = self.headers[field],
            let name = OperatorName.canonical(text)
        else {
            throw .invalid(
                header: header,
                detail: "Names the operator who acts: 1 to 64 letters, digits and . _ @ -, upper case or not."
            )
        }
        return name
    }
}

extension OperatorOrder {
    /// The most characters of a reason, as JSON schemas count them.
    public static let longestReason = 500

    /// The order of a request whose body has nothing but the reason.
    ///
    /// - Throws: 400 with the place.
    public init(_ request: Request, _ context: AppRequestContext) async throws {
        let body = try await request.decodeBody(as: Reason.self, context: context)
        try self.init(request, context, reason: body.reason)
    }

    /// The order of a request whose body has the reason at a pointer.
    ///
    /// - Throws: 400 with the place.
    public init(
        _ request: Request,
        _ context: AppRequestContext,
        reason: String,
        at pointer: String = "/reason"
    ) throws(APIError) {
        let kept: String
        do throws(PersonText.Problem) {
            kept = try PersonText.checked(reason, 1...Self.longestReason)
        } catch {
            throw .invalid(
                pointer,
                detail: "One line of 1 to \(Self.longestReason) characters, all of which show."
            )
        }
        self.init(name: try request.operatorName(), reason: kept, request: context.requestID)
    }

    private struct Reason: Decodable {
        let reason: String
    }
}
