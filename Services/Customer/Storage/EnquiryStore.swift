import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The table `name_enquiries`.
struct EnquiryStore: Sendable {
    /// One of a user's.
    func find(_ id: UUID, of user: UserID, on database: EventDatabase) async throws -> NameEnquiry? {
        let sql: SQL = "\(Self.columns) WHERE id = \(id) AND user_id = \(user.uuid)"
        return try await database.client.query(sql, as: user.uuid).first.map(Self.enquiry)
    }

    /// One by its id alone; for jobs.
    func find(_ id: UUID, on database: EventDatabase) async throws -> NameEnquiry? {
        try await database.client.query("\(Self.columns) WHERE id = \(id)").first.map(Self.enquiry)
    }

    /// How many a user has asked since a moment.
    ///
    /// Lock the user first.
    func count(of user: UserID, since moment: Date, in transaction: EventTransaction) async throws -> Int {
        let rows = try await transaction.query(
            "SELECT count(*) FROM name_enquiries WHERE user_id = \(user.uuid) AND created_at > \(moment)"
        )
        return Int(try rows.first?.decode(Int64.self) ?? 0)
    }

    /// Adds one.
    func insert(_ new: NameEnquiry, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            INSERT INTO name_enquiries (id, user_id, account_number, bank_code, created_at)
            VALUES (\(new.id), \(new.user.uuid), \(new.accountNumber.text), \(new.bankCode), \(new.createdAt))
            """
        )
    }

    /// Writes the bank's answer.
    func saveAnswer(_ enquiry: NameEnquiry, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            UPDATE name_enquiries SET status = \(enquiry.status.rawValue), bank_name = \(enquiry.bankName),
                account_name = \(enquiry.accountName?.text), reject_reason = \(enquiry.rejectReason?.rawValue)
            WHERE id = \(enquiry.id)
            """
        )
    }

    /// Forgets those that are a day old.
    func prune(in transaction: EventTransaction) async throws {
        let limit = transaction.now.addingTimeInterval(-86_400)
        try await transaction.query("DELETE FROM name_enquiries WHERE created_at < \(limit)")
    }

    private static let columns: SQL = """
        SELECT id, user_id, account_number, bank_code, bank_name, account_name, status, reject_reason, created_at
        FROM name_enquiries
        """

    private static func enquiry(_ row: PostgresRow) throws -> NameEnquiry {
        let (id, user, number, code, bank, name, word, reason, created) = try row.decode(
            UUID.self,
            UUID.self,
            String.self,
            String.self,
            String?.self,
            String?.self,
            String.self,
            String?.self,
            Date.self
        )
        guard let status = NameEnquiry.Status(rawValue: word) else {
            throw StoredWordUnknown(table: "name_enquiries")
        }
        return NameEnquiry(
            id: id,
            user: UserID(user),
            accountNumber: Sealed(number),
            bankCode: code,
            bankName: bank,
            accountName: name.map { Sealed($0) },
            status: status,
            rejectReason: reason.flatMap { RejectReason(rawValue: $0) },
            createdAt: created
        )
    }
}
