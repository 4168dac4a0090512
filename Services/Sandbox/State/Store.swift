import Foundation
import Primitives
import Synchronization

/// The state behind one lock, with its journal.
///
/// Operations are short and in memory, so one lock is enough.
final class Store: Sendable {
    private struct Protected: Sendable {
        var state: SandboxState
        let journal: Journal?
    }

    private let protected: Mutex<Protected>
    private let time: any TimeSource

    /// Opens the store, with the state a journal holds when there is a folder for one.
    init(directory: String?, time: any TimeSource) throws {
        self.time = time
        var state = SandboxState()
        guard let directory else {
            self.protected = Mutex(Protected(state: state, journal: nil))
            return
        }
        let (journal, changes) = try Journal.open(directory: directory)
        state.now = time.now.millisecondsSince1970
        for change in changes { state.apply(change) }
        self.protected = Mutex(Protected(state: state, journal: journal))
    }

    /// Reads a part of the state.
    func read<Value: Sendable>(_ body: (SandboxState) -> Value) -> Value {
        self.protected.withLock { body($0.state) }
    }

    /// Runs an operation, writes its changes to the journal, and returns what is to be done later.
    ///
    /// - Throws: What the operation throws; it must not have recorded a change before.
    func write<Value: Sendable>(
        _ body: (inout SandboxState) throws -> Value
    ) throws -> (value: Value, followUps: [FollowUp]) {
        let now = self.time.now.millisecondsSince1970
        return try self.protected.withLock { protected in
            protected.state.now = now
            let value = try body(&protected.state)
            let changes = protected.state.unsaved
            let followUps = protected.state.followUps
            protected.state.unsaved.removeAll(keepingCapacity: true)
            protected.state.followUps.removeAll(keepingCapacity: true)
            if !changes.isEmpty { try protected.journal?.append(changes) }
            return (value, followUps)
        }
    }

    /// Forgets everything but the webhook target.
    func reset() throws {
        try self.protected.withLock { protected in
            let target = protected.state.target
            protected.state = SandboxState()
            try protected.journal?.empty()
            guard let target else { return }
            protected.state.target = target
            try protected.journal?.append([.target(target)])
        }
    }
}
