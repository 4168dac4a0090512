import Primitives

extension AppRequestContext {
    /// Bytes as a text that only this service can have made, and that holds for one person and one purpose.
    ///
    /// It hides nothing. For what a client keeps for a while and brings back, so that no row has to be written for it.
    ///
    /// - Parameters:
    ///   - note: At most 24 bytes.
    ///   - purpose: What it is for, with everything that must be the same when it comes back.
    /// - Returns: 32 characters for 16 bytes.
    /// - Throws: `APIError.unauthenticated`: it must be somebody's.
    public func text(ofNote note: [UInt8], for purpose: String) throws(APIError) -> String {
        guard let seal = self.cursors else { throw .unexpected }
        return seal.text(of: note, in: try self.owned(purpose))
    }

    /// The bytes in a text that `text(ofNote:for:)` has made for the same person and purpose; nil in any other.
    public func note(in text: String, for purpose: String) throws(APIError) -> [UInt8]? {
        guard let seal = self.cursors else { throw .unexpected }
        return seal.place(in: text, of: try self.owned(purpose))
    }

    /// Cursors are bound to paths, which begin with a slash: the two cannot be taken for each other.
    private func owned(_ purpose: String) throws(APIError) -> String {
        let user = try self.requireIdentity().userID
        return "note \(user) \(purpose)"
    }
}
