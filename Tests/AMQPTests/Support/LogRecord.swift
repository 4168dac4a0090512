import EventLoops
import Logging

/// Keeps the messages that a client logs.
struct LogRecord: LogHandler {
    let messages = Locked<[String]>([])
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    var logger: Logger { Logger(label: "amqp-tests") { _ in self } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        self.messages.withLock { $0.append("\(event.message)") }
    }
}
