import EventLoops

extension SuitePart.Readiness {
    /// Whether it holds now.
    public var holds: Bool {
        get async {
            switch self {
            case .answers(let port, let path): await LoopbackPort.status(of: path, at: port) == 200
            case .listens(let port): await SideThread.run { LoopbackPort.answers(port) }
            }
        }
    }
}
