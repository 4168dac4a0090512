import Contracts
import Foundation

/// A fact as a row keeps it: what the event said, without what the payer wrote.
struct StoredFact {
    let type: String
    let data: String

    init(_ fact: Fact) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        switch fact {
        case .transfer(var data):
            data.description = nil
            self.type = TransactionCompleted.type.rawValue
            self.data = String(decoding: try encoder.encode(data), as: UTF8.self)
        case .claim(let data):
            self.type = MoneyDropClaimed.type.rawValue
            self.data = String(decoding: try encoder.encode(data), as: UTF8.self)
        }
    }

    init(type: String, data: String) {
        self.type = type
        self.data = data
    }

    /// The fact; nil for a kind that this version does not count.
    func fact() throws -> Fact? {
        let (decoder, bytes) = (JSONDecoder(), Data(self.data.utf8))
        switch EventType(rawValue: self.type) {
        case TransactionCompleted.type: return .transfer(try decoder.decode(TransactionCompleted.self, from: bytes))
        case MoneyDropClaimed.type: return .claim(try decoder.decode(MoneyDropClaimed.self, from: bytes))
        default: return nil
        }
    }
}
