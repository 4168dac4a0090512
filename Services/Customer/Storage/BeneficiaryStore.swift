import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The table `beneficiaries`.
struct BeneficiaryStore: Sendable {
    // MARK: Reading

    /// Those that are not deleted, oldest first.
    func list(_ user: UserID, as reader: UserID?, on database: EventDatabase) async throws -> [Beneficiary] {
        let sql: SQL =
            "\(Self.columns) WHERE user_id = \(user.uuid) AND deleted_at IS NULL ORDER BY created_at, id LIMIT 100"
        return try await database.client.query(sql, as: reader?.uuid).map(Self.beneficiary)
    }

    /// One of a user's that is not deleted.
    func find(_ id: UUID, of user: UserID, on database: EventDatabase) async throws -> Beneficiary? {
        let sql: SQL = "\(Self.columns) WHERE id = \(id) AND user_id = \(user.uuid) AND deleted_at IS NULL"
        return try await database.client.query(sql, as: user.uuid).first.map(Self.beneficiary)
    }

    /// Where payments to a user go; nil when nowhere.
    func findDefault(_ user: UserID, on database: EventDatabase) async throws -> Beneficiary? {
        let sql: SQL = "\(Self.columns) WHERE user_id = \(user.uuid) AND is_default"
        return try await database.client.query(sql).first.map(Self.beneficiary)
    }

    /// One by its id alone, deleted ones too; for jobs.
    func find(_ id: UUID, on database: EventDatabase) async throws -> Beneficiary? {
        try await database.client.query("\(Self.columns) WHERE id = \(id)").first.map(Self.beneficiary)
    }

    /// All of a user's that are not deleted.
    ///
    /// Lock the user first.
    func all(_ user: UserID, in transaction: EventTransaction) async throws -> [Beneficiary] {
        let sql: SQL = "\(Self.columns) WHERE user_id = \(user.uuid) AND deleted_at IS NULL ORDER BY created_at, id"
        return try await transaction.query(sql).map(Self.beneficiary)
    }

    // MARK: Writing

    /// Adds a pending one.
    ///
    /// - Throws: `CustomerError.beneficiaryExists`.
    func insert(_ new: Beneficiary, numberIndex: String, in transaction: EventTransaction) async throws {
        do {
            try await transaction.query(
                """
                INSERT INTO beneficiaries (id, user_id, account_number, bank_code, number_index, created_at)
                VALUES (\(new.id), \(new.user.uuid), \(new.accountNumber.text), \(new.bankCode), \(numberIndex),
                    \(new.createdAt))
                """
            )
        } catch let error as PostgresError where error.isUniqueViolation("beneficiaries_number") {
            throw CustomerError.beneficiaryExists
        }
    }

    /// Writes the bank's answer.
    func saveAnswer(_ beneficiary: Beneficiary, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            UPDATE beneficiaries SET status = \(beneficiary.status.rawValue),
                reject_reason = \(beneficiary.rejectReason?.rawValue), account_name = \(beneficiary.accountName?.text),
                bank_name = \(beneficiary.bankName), anchor_counterparty_id = \(beneficiary.anchorCounterpartyID),
                is_default = \(beneficiary.isDefault), name_accepted = \(beneficiary.isNameAccepted)
            WHERE id = \(beneficiary.id)
            """
        )
    }

    /// Makes one the default, or none.
    func setDefault(_ id: UUID?, of user: UserID, in transaction: EventTransaction) async throws {
        // Taken away first: the index that allows one default is checked row by row.
        try await transaction.query(
            "UPDATE beneficiaries SET is_default = false WHERE user_id = \(user.uuid) AND is_default"
        )
        guard let id else { return }
        try await transaction.query("UPDATE beneficiaries SET is_default = true WHERE id = \(id)")
    }

    /// Deletes one; its row stays for transfers that refer to it.
    func delete(_ id: UUID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            "UPDATE beneficiaries SET deleted_at = \(transaction.now), is_default = false WHERE id = \(id)"
        )
    }

    // MARK: Rows

    static let columns: SQL = """
        SELECT id, user_id, account_number, account_name, bank_code, bank_name, status, reject_reason,
            anchor_counterparty_id, is_default, created_at, deleted_at, name_accepted
        FROM beneficiaries
        """

    static func beneficiary(_ row: PostgresRow) throws -> Beneficiary {
        let (id, user, number, name, code, bank) = try row.decode(
            UUID.self,
            UUID.self,
            String.self,
            String?.self,
            String.self,
            String?.self
        )
        guard let status = BeneficiaryStatus(rawValue: try row["status"].decode()) else {
            throw StoredWordUnknown(table: "beneficiaries")
        }
        return Beneficiary(
            id: id,
            user: UserID(user),
            accountNumber: Sealed(number),
            accountName: name.map { Sealed($0) },
            bankCode: code,
            bankName: bank,
            status: status,
            rejectReason: try row["reject_reason"].decode(String?.self).flatMap { RejectReason(rawValue: $0) },
            anchorCounterpartyID: try row["anchor_counterparty_id"].decode(String?.self),
            isDefault: try row["is_default"].decode(Bool.self),
            createdAt: try row["created_at"].decode(Date.self),
            deletedAt: try row["deleted_at"].decode(Date?.self),
            isNameAccepted: try row["name_accepted"].decode(Bool.self)
        )
    }
}

/// A row holds a word that this version does not know: a newer version wrote it.
struct StoredWordUnknown: Error {
    let table: String
}
