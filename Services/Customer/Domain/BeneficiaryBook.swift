import Foundation

/// The verified beneficiaries of one user, and which of them payments go to: pure.
struct BeneficiaryBook: Hashable, Sendable {
    /// A verified beneficiary.
    struct Entry: Hashable, Sendable {
        let id: UUID
        let createdAt: Date
    }

    private(set) var entries: [Entry]
    private(set) var defaultID: UUID?

    init(entries: [Entry] = [], defaultID: UUID? = nil) {
        self.entries = entries
        self.defaultID = defaultID
    }

    /// Adds a beneficiary that the bank has confirmed; the first one becomes the default.
    ///
    /// - Returns: Whether it is the default.
    mutating func add(_ entry: Entry) -> Bool {
        if !self.entries.contains(where: { $0.id == entry.id }) { self.entries.append(entry) }
        if self.defaultID == nil { self.defaultID = entry.id }
        return self.defaultID == entry.id
    }

    /// Makes a beneficiary the default.
    ///
    /// - Returns: Whether that is a change; nil when there is no such verified beneficiary.
    mutating func choose(_ id: UUID) -> Bool? {
        guard self.entries.contains(where: { $0.id == id }) else { return nil }
        guard self.defaultID != id else { return false }
        self.defaultID = id
        return true
    }

    /// Removes a beneficiary; the oldest that is left follows a default.
    ///
    /// - Returns: Whether the default changed.
    mutating func remove(_ id: UUID) -> Bool {
        self.entries.removeAll { $0.id == id }
        guard self.defaultID == id else { return false }
        self.defaultID = self.entries.min { ($0.createdAt, $0.id.uuidString) < ($1.createdAt, $1.id.uuidString) }?.id
        return true
    }
}
