/// Which published messages the broker has not answered yet.
///
/// The broker numbers the publishes of a channel from 1 and answers with ack or nack, out of order or for many at once.
/// One ledger belongs to one channel: it is consumed when the channel ends, and what was open then is lost, never
/// forgotten.
struct ConfirmLedger<Entry>: ~Copyable {
    /// What the broker said about one entry.
    struct Answer {
        let entry: Entry
        let outcome: PublishOutcome
    }

    private enum Slot {
        case open(Entry)
        case returned(Entry, code: UInt16, text: String)
        case answered
    }

    private var slots: [Slot] = []
    /// The number of the first slot.
    private var firstTag: UInt64 = 1
    /// How many are not answered.
    private(set) var openCount = 0

    /// The number that the broker gave to the latest publish.
    private var lastTag: UInt64 { self.firstTag + UInt64(self.slots.count) - 1 }

    /// Notes a publish.
    mutating func published(_ entry: Entry) {
        self.slots.append(.open(entry))
        self.openCount += 1
    }

    /// Notes that a message came back unroutable.
    ///
    /// Its ack follows.
    ///
    /// - Parameters:
    ///   - code: The broker's reply code.
    ///   - text: The broker's reply text.
    ///   - isIt: Whether an entry is the message; the oldest one that is gets the note.
    /// - Throws: A violation when no open publish is the message.
    mutating func returned(code: UInt16, text: String, _ isIt: (Entry) -> Bool) throws(AMQPError) {
        for index in self.slots.indices {
            guard case .open(let entry) = self.slots[index], isIt(entry) else { continue }
            self.slots[index] = .returned(entry, code: code, text: text)
            return
        }
        throw AMQPError(.protocolViolation, "a message came back that was not published")
    }

    /// Takes an ack or a nack.
    ///
    /// - Returns: What is known now, in the order of the publishes.
    mutating func answered(tag: UInt64, multiple: Bool, accepted: Bool) throws(AMQPError) -> [Answer] {
        // Zero with `multiple` means all that are open.
        let last = multiple && tag == 0 ? self.lastTag : tag
        guard last <= self.lastTag, last >= self.firstTag || multiple else {
            throw AMQPError(.protocolViolation, "a confirm for publish \(tag), which is not open")
        }
        guard last >= self.firstTag else { return [] }
        let end = Int(last - self.firstTag)
        var answers: [Answer] = []
        for index in (multiple ? 0 : end)...end {
            if let answer = self.settle(index, accepted: accepted) { answers.append(answer) }
        }
        guard multiple || !answers.isEmpty else {
            throw AMQPError(.protocolViolation, "a second confirm for publish \(tag)")
        }
        self.dropAnswered()
        return answers
    }

    /// The channel ended.
    ///
    /// - Returns: The entries without an answer, in the order of the publishes.
    consuming func abandon() -> [Entry] {
        self.slots.compactMap { slot in
            switch slot {
            case .open(let entry), .returned(let entry, _, _): entry
            case .answered: nil
            }
        }
    }

    private mutating func settle(_ index: Int, accepted: Bool) -> Answer? {
        let answer: Answer
        switch self.slots[index] {
        case .answered: return nil
        case .open(let entry): answer = Answer(entry: entry, outcome: accepted ? .confirmed : .rejected)
        case .returned(let entry, let code, let text):
            answer = Answer(entry: entry, outcome: .returned(code: code, text: text))
        }
        self.slots[index] = .answered
        self.openCount -= 1
        return answer
    }

    private mutating func dropAnswered() {
        let count = self.slots.prefix { slot in
            if case .answered = slot { true } else { false }
        }.count
        self.slots.removeFirst(count)
        self.firstTag += UInt64(count)
    }
}
