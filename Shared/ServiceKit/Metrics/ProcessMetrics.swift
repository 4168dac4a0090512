import Foundation

/// What the kernel knows about this process.
enum ProcessMetrics {
    private static let started = Date().timeIntervalSince1970

    /// Remembers the time; called once at the start.
    static func begin() { _ = Self.started }

    static func lines() -> [String] {
        var lines = [
            "# TYPE process_start_time_seconds gauge",
            "process_start_time_seconds \(Self.started)",
        ]
        if let bytes = Self.residentBytes() {
            lines += ["# TYPE process_resident_memory_bytes gauge", "process_resident_memory_bytes \(bytes)"]
        }
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            lines += ["# TYPE process_open_fds gauge", "process_open_fds \(open)"]
        }
        return lines
    }

    /// `VmRSS` of `/proc/self/status`, which is in kilobytes whatever the page size.
    static func residentBytes() -> Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return kilobytes * 1024
    }
}
