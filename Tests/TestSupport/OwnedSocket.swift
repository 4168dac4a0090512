import Glibc

/// A socket that is closed when nobody refers to it any more.
///
/// The number of a closed one is somebody else's at once: a thread that still ended it, or accepted from it, would do so to a
/// stranger, such as the connection of another test.
public final class OwnedSocket: Sendable {
    /// For functions of the C library, while this is referred to.
    public let number: CInt

    /// Takes a socket over.
    public init(_ number: CInt) { self.number = number }

    deinit { close(self.number) }

    /// Ends both directions: whoever waits at it is woken, and its peer sees the end.
    public func end() { shutdown(self.number, CInt(SHUT_RDWR)) }
}
