import CQRencode

/// A text as a QR code.
public struct QRSymbol: Sendable, Hashable {
    /// Modules per side, without the quiet zone.
    public let side: Int
    /// Row by row; true is dark.
    private let modules: [Bool]

    /// The longest text.
    public static let maximumBytes = 1024
    /// Light modules around the code; readers need four.
    public static let quietZone = 4

    /// Encodes a text, byte by byte, with error correction M.
    ///
    /// - Throws: `QRCodeError`.
    public init(_ text: String) throws(QRCodeError) {
        guard !text.isEmpty, text.utf8.count <= Self.maximumBytes, !text.utf8.contains(0) else {
            throw .unsuitableText
        }
        // Safe from any thread: libqrencode keeps no state between calls but tables that it guards by a lock.
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { throw .notEncoded }
        defer { QRcode_free(code) }
        let side = Int(code.pointee.width)
        guard side > 0, let data = code.pointee.data else { throw .notEncoded }
        self.side = side
        // The lowest bit is the colour; the others tell what a module is for.
        self.modules = UnsafeBufferPointer(start: data, count: side * side).map { $0 & 1 == 1 }
    }

    /// Whether a module is dark; the quiet zone, and all beyond it, is not.
    public func isDark(row: Int, column: Int) -> Bool {
        guard (0..<self.side).contains(row), (0..<self.side).contains(column) else { return false }
        return self.modules[row * self.side + column]
    }
}

/// Why there is no code.
public enum QRCodeError: Error, Hashable, Sendable {
    /// Empty, too long, or with a NUL.
    case unsuitableText
    /// The library or the compression gave nothing.
    case notEncoded
}
