import EventLoops
import Logging

/// Keeps what a migrator logs: the message, then its values.
struct HeardLines: LogHandler {
    private let lines = Locked<[String]>([])
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    var logger: Logger { Logger(label: "postgres-tests") { _ in self } }
    var all: [String] { self.lines.withLock { $0 } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted()
        self.lines.withLock { $0.append(([String(describing: event.message)] + values).joined(separator: " ")) }
    }
}
