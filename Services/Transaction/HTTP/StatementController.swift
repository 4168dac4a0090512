import Contracts
import Documents
import HTTPTypes
import Hummingbird
import NIOCore
import Primitives
import ServiceKit

/// GET /statements.
struct StatementController: Sendable {
    let store: StatementStore
    let write: WriteStatement
    let clock: any TimeSource

    private enum Format: String, CaseIterable {
        case json
        case csv
        case pdf
    }

    private static let defaultLimit = 100
    private static let maximumLimit = 500

    /// Adds the route.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/statements") { request, context -> Response in
            try await self.statement(request, context)
        }
    }

    private func statement(_ request: Request, _ context: AppRequestContext) async throws -> Response {
        let user = try context.requireIdentity().userID
        let format = try Self.format(request.uri.queryParameters.get("format"))
        let paging = try Paging(request, context, usual: Self.defaultLimit, maximum: Self.maximumLimit)
        let query = request.uri.queryParameters
        // Files are whole: only JSON comes in pages.
        let page = try format == .json ? StatementPage(paging, from: query.get("from"), to: query.get("to")) : nil
        let period = try page?.period ?? request.period(now: self.clock.now)
        guard let statement = try await self.store.statement(period, of: user, endingAt: page?.last) else {
            throw APIError.notOnboarded
        }
        switch format {
        case .json:
            return try await self.json(statement, period, paging, after: page?.after ?? 0, user)
                .response(from: request, context: context)
        case .csv: return self.csv(statement, period, user)
        case .pdf:
            let bytes = try await Self.drawn {
                try await self.write.pdf(statement, period, for: user, at: self.clock.now)
            }
            return .file(
                ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)),
                "application/pdf",
                Self.name(period, "pdf")
            )
        }
    }

    private func json(
        _ statement: Statement,
        _ period: LagosPeriod,
        _ paging: Paging,
        after: Int64,
        _ user: UserID
    ) async throws -> APIResponse {
        let lines = try await self.write.lines(of: statement, after: after, limit: paging.limit, for: user)
        let end = lines.last?.line.sequence ?? statement.last
        return try APIResponse(
            json: StatementResource(
                from: period.from.description,
                to: period.to.description,
                currency: "NGN",
                openingBalance: statement.opening.kobo,
                closingBalance: statement.closing.kobo,
                lines: lines.map { named in
                    StatementLineResource(
                        transactionID: named.line.transfer,
                        reference: named.line.reference,
                        postedAt: Timestamp.text(named.line.postedAt),
                        description: named.text,
                        amount: named.line.amount.kobo,
                        balance: named.line.balance.kobo
                    )
                },
                nextCursor: end < statement.last
                    ? paging.cursor(keeping: StatementPage(after: end, last: statement.last, period: period).numbers)
                    : nil
            )
        )
    }

    private func csv(_ statement: Statement, _ period: LagosPeriod, _ user: UserID) -> Response {
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: self.write.csvHead(statement, period)))
            var last = statement.before
            while last < statement.last {
                let piece = try await self.write.csvLines(of: statement, after: last, for: user)
                try await writer.write(ByteBuffer(string: piece.text))
                last = piece.last
            }
            try await writer.write(ByteBuffer(string: self.write.csvEnd(statement, period)))
            try await writer.finish(nil)
        }
        return .file(body, "text/csv; charset=utf-8", Self.name(period, "csv"))
    }

    private static func name(_ period: LagosPeriod, _ suffix: String) -> String {
        "transfa-statement-\(period.from)-\(period.to).\(suffix)"
    }

    /// Tells of a document that cannot be drawn now.
    static func drawn(_ body: () async throws -> [UInt8]) async throws -> [UInt8] {
        do {
            return try await body()
        } catch let error as DocumentError {
            throw error.apiError
        }
    }

    // MARK: Parameters

    private static func format(_ text: String?) throws(APIError) -> Format {
        guard let text else { return .json }
        guard let format = Format(rawValue: text) else {
            throw .invalid(parameter: "format", detail: "One of json, csv, pdf.")
        }
        return format
    }
}

extension Response {
    /// A file for a person to keep.
    static func file(_ body: ResponseBody, _ type: String, _ name: String) -> Response {
        var headers: HTTPFields = [.contentType: type]
        headers[.contentDisposition] = "attachment; filename=\"\(name)\""
        return Response(status: .ok, headers: headers, body: body)
    }
}
