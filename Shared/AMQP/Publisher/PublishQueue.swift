/// Requests whose messages have not all been sent, in the order of their arrival.
struct PublishQueue {
    private var requests: [PublishRequest] = []
    private var head = 0

    /// How many messages wait.
    private(set) var unsentCount = 0

    mutating func append(_ request: PublishRequest) {
        self.requests.append(request)
        self.unsentCount += request.unsentCount
    }

    /// The next message, without taking it.
    var first: (request: PublishRequest, index: Int)? {
        self.requests[self.head...].lazy.compactMap { request in
            request.unsentCount > 0 ? (request, request.nextIndex) : nil
        }.first
    }

    /// Marks the next message as sent.
    mutating func removeFirst() {
        guard let (request, index) = self.first else { return }
        request.nextIndex = index + 1
        self.unsentCount -= 1
        self.compact()
    }

    /// Forgets what a request had not sent, before its caller is told.
    mutating func forget(_ request: PublishRequest) {
        guard let index = self.requests[self.head...].firstIndex(where: { $0 === request }) else { return }
        self.unsentCount -= request.unsentCount
        self.requests.remove(at: index)
        self.compact()
    }

    /// Empties the queue.
    mutating func removeAll() -> [PublishRequest] {
        defer { self = PublishQueue() }
        return Array(self.requests[self.head...])
    }

    private mutating func compact() {
        while self.head < self.requests.count, self.requests[self.head].unsentCount == 0 { self.head += 1 }
        guard self.head == self.requests.count || self.head > 64 else { return }
        self.requests.removeFirst(self.head)
        self.head = 0
    }
}
