import EventLoops
import Foundation
public import Logging
import Primitives

/// One JSON object per line on standard error, with everything redacted that nobody vouched for.
public struct JSONLogHandler: LogHandler {
    /// Metadata of the logger itself.
    public var metadata: Logger.Metadata = [:]
    /// Adds metadata from the task.
    public var metadataProvider: Logger.MetadataProvider?
    /// Lines below are not written.
    public var logLevel: Logger.Level

    private let label: String
    private let sink: LogSink

    /// Creates a handler.
    public init(label: String, level: Logger.Level, sink: LogSink = .standardError) {
        self.label = label
        self.logLevel = level
        self.sink = sink
    }

    /// One value of the logger's own metadata.
    public subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    /// Writes one line.
    public func log(event: LogEvent) {
        var text = JSONText(capacity: 512)
        text.object { line in
            line.member("time", Timestamp.text(Date()))
            line.member("level", event.level.rawValue)
            line.member("logger", self.label)
            line.member("message", LogRedaction.scrub(event.message.description))
            if let error = event.error {
                line.member("error", SafeErrorText.describe(error))
            }
            for (key, value) in self.merged(with: event.metadata) {
                line.member(key, LogRedaction.value(value, key: key))
            }
        }
        self.sink.write(text.bytes + [UInt8(ascii: "\n")])
    }

    private func merged(with own: Logger.Metadata?) -> [(key: String, value: Logger.MetadataValue)] {
        var all = self.metadata
        if let provided = self.metadataProvider?.get() {
            all.merge(provided) { $1 }
        }
        if let own {
            all.merge(own) { $1 }
        }
        return all.sorted { $0.key < $1.key }
    }
}

/// Where log lines go.
public struct LogSink: Sendable {
    let write: @Sendable ([UInt8]) -> Void

    /// A sink that hands each line, with its newline, to a closure.
    public init(_ write: @escaping @Sendable ([UInt8]) -> Void) {
        self.write = write
    }

    /// Standard error; one write per line, so that lines of several threads do not mix.
    public static let standardError = LogSink { bytes in
        try? FileHandle.standardError.write(contentsOf: bytes)
    }
}
