import Contracts
import Foundation
import Primitives

/// An event as the archive keeps it: its bytes, and what it can be found by.
struct ArchivedEvent: Sendable {
    let id: UUID
    let time: Date
    let source: String
    let type: String
    let subject: String
    let sequence: Int64
    let correlationID: UUID?
    let causationID: UUID?
    /// Transfers and payments that its data names, besides the subject.
    let references: [String]
    /// The envelope, byte for byte.
    let body: String

    /// The day in its id, counted from 1970-01-01.
    var day: Int { Int((self.id.version7Milliseconds ?? 0) / 86_400_000) }

    /// Reads an envelope.
    ///
    /// - Throws: Why the bytes are no event, or none that a row can hold.
    init(bytes: [UInt8]) throws(MalformedReason) {
        guard let body = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else { throw .notText }
        let envelope: Envelope
        do {
            envelope = try JSONDecoder().decode(Envelope.self, from: Data(bytes))
        } catch {
            throw .notAnEnvelope
        }
        let attributes = envelope.attributes
        guard let milliseconds = attributes.id.version7Milliseconds else { throw .badID }
        let texts = [attributes.source, attributes.type.rawValue, attributes.subject]
        guard texts.allSatisfy(Self.isStorable) else { throw .badAttribute }
        // Whoever replays it must be able to believe it.
        guard EventCatalogue.isPublisher(attributes.source, of: attributes.type) else { throw .wrongSource }
        self.id = attributes.id
        // A time that cannot be read is no reason to lose the event.
        self.time = Timestamp.parse(attributes.time) ?? Date(millisecondsSince1970: milliseconds)
        self.source = attributes.source
        self.type = attributes.type.rawValue
        self.subject = attributes.subject
        self.sequence = attributes.sequence
        self.correlationID = attributes.correlationid
        self.causationID = attributes.causationid
        self.references = envelope.references.filter { $0 != attributes.subject && Self.isStorable($0) }
        self.body = body
    }

    /// Text in Postgres has no NUL, and an index entry has a limit.
    private static func isStorable(_ text: String) -> Bool { text.utf8.count <= 512 && !text.utf8.contains(0) }

    /// Why bytes of the log are no event.
    enum MalformedReason: String, Error, Sendable {
        case notText = "not_text"
        case notAnEnvelope = "not_an_envelope"
        case badID = "bad_id"
        case badAttribute = "bad_attribute"
        case wrongSource = "wrong_source"
        case wrongKey = "wrong_key"
        case refusedByDatabase = "refused_by_database"
    }
}

extension ArchivedEvent {
    /// Attributes and references, read in one go.
    private struct Envelope: Decodable {
        let attributes: EventAttributes
        let references: [String]

        private enum Key: String, CodingKey {
            case data
        }

        init(from decoder: any Decoder) throws {
            self.attributes = try EventAttributes(from: decoder)
            let container = try decoder.container(keyedBy: Key.self)
            let data = try? container.nestedContainer(keyedBy: ReferenceKey.self, forKey: .data)
            self.references = ReferenceKey.allCases.compactMap { key in
                try? data?.decodeIfPresent(String.self, forKey: key)
            }
        }
    }

    /// Members of events' data that name a transfer or a payment.
    private enum ReferenceKey: String, CodingKey, CaseIterable {
        case transactionID = "transaction_id"
        case paymentID = "payment_id"
        case reference
        case anchorTransferID = "anchor_transfer_id"
        case providerPaymentID = "provider_payment_id"
    }
}
