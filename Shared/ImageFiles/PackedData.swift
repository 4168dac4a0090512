import CZlib

/// Data that zlib packed, as in chunks of PNG.
struct PackedData {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    private static let pieceSize = 64 * 1024

    /// Unpacks all of it, piece by piece, so that no more than a piece is in memory at once.
    ///
    /// - Parameters:
    ///   - limit: How many bytes it may unpack to; it stops at the first piece beyond.
    ///   - each: Takes a piece.
    /// - Returns: How many bytes came out.
    /// - Throws: `ImageProblem.malformed` for what is damaged, cut, followed by anything, or longer; what `each` throws.
    @discardableResult
    func unpack(
        atMost limit: Int,
        _ each: (ArraySlice<UInt8>) throws(ImageProblem) -> Void = { _ throws(ImageProblem) in }
    ) throws(ImageProblem) -> Int {
        var packed = Array(self.bytes)
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        // zlib remembers where its stream is, so that it must stay at one place.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        defer { unsafe stream.deallocate() }
        guard unsafe transfa_inflate_init(stream) == Z_OK else { throw .malformed }
        defer { unsafe _ = inflateEnd(stream) }
        var (taken, given) = (0, 0)
        while true {
            // Both arrays outlive the call, and zlib keeps neither place: it is told them anew each time.
            let status = unsafe packed.withUnsafeMutableBufferPointer { input in
                unsafe piece.withUnsafeMutableBufferPointer { output in
                    unsafe stream.pointee.next_in = input.baseAddress.map { unsafe $0 + taken }
                    unsafe stream.pointee.avail_in = uInt(input.count - taken)
                    unsafe stream.pointee.next_out = output.baseAddress
                    unsafe stream.pointee.avail_out = uInt(output.count)
                    return unsafe inflate(stream, Z_NO_FLUSH)
                }
            }
            taken = unsafe packed.count - Int(stream.pointee.avail_in)
            let count = unsafe piece.count - Int(stream.pointee.avail_out)
            given += count
            guard given <= limit, status == Z_OK || status == Z_STREAM_END else { throw .malformed }
            try each(piece[..<count])
            if status == Z_STREAM_END { break }
        }
        guard taken == packed.count else { throw .malformed }
        return given
    }
}
