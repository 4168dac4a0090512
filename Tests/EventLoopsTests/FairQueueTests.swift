import Testing

@testable import EventLoops

/// Work that goes on until it is let go, in a queue, and the order in which it began.
private struct Desk: Sendable {
    let queue: FairQueue
    let begun = Locked<[String]>([])
    private let free = Locked(0)

    init(places: Int, each: Int = 100, room: Int = 100, share: Int = 100) {
        self.queue = FairQueue(places: places, each: each, room: room, share: share)
    }

    /// Begins when it is its turn and ends when one is let go.
    func work(_ name: String, for owner: String, size: Int = 1) async throws {
        try await self.queue.run(for: owner, size: size) {
            self.begun.withLock { $0.append(name) }
            await self.until {
                self.free.withLock { count in
                    guard count > 0 else { return false }
                    count -= 1
                    return true
                }
            }
        }
    }

    func letGo(_ count: Int = 1) {
        self.free.withLock { $0 += count }
    }

    func until(_ isSo: () -> Bool) async {
        while !isSo() { await Task.yield() }
    }

    var order: [String] { self.begun.withLock { $0 } }
}

@Suite("A queue that is fair to people", .timeLimit(.minutes(1)))
struct FairQueueTests {
    @Test("people take turns, however much one of them has waiting")
    func turns() async throws {
        let desk = Desk(places: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (name, owner, waiting) in [("a1", "ada", 0), ("a2", "ada", 1), ("a3", "ada", 2), ("b1", "bola", 3)] {
                group.addTask { try await desk.work(name, for: owner) }
                await desk.until { desk.queue.waiting == waiting && desk.order == ["a1"] }
            }
            for count in 2...4 {
                desk.letGo()
                await desk.until { desk.order.count == count }
            }
            desk.letGo()
            try await group.waitForAll()
        }
        #expect(desk.order == ["a1", "b1", "a2", "a3"])
    }

    @Test("of two places one person has one while somebody else waits, and both when nobody does")
    func places() async throws {
        let desk = Desk(places: 2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (count, name) in [(1, "a1"), (2, "a2")] {
                group.addTask { try await desk.work(name, for: "ada") }
                await desk.until { desk.order.count == count }
            }
            for (waiting, name, owner) in [(1, "a3", "ada"), (2, "a4", "ada"), (3, "b1", "bola")] {
                group.addTask { try await desk.work(name, for: owner) }
                await desk.until { desk.queue.waiting == waiting }
            }
            desk.letGo()
            await desk.until { desk.order.count == 3 }
            desk.letGo(4)
            try await group.waitForAll()
        }
        #expect(desk.order.prefix(3) == ["a1", "a2", "b1"])
        #expect(desk.order.count == 5)
    }

    @Test("nobody takes all places: who comes next need not wait for one person's long work")
    func each() async throws {
        let desk = Desk(places: 3, each: 2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (count, name) in [(1, "a1"), (2, "a2")] {
                group.addTask { try await desk.work(name, for: "ada") }
                await desk.until { desk.order.count == count }
            }
            group.addTask { try await desk.work("a3", for: "ada") }
            await desk.until { desk.queue.waiting == 1 }
            group.addTask { try await desk.work("b1", for: "bola") }
            await desk.until { desk.order.count == 3 }
            // Bola's is over, or one of Ada's: it is Chidi's turn, and Ada's only in the second case.
            group.addTask { try await desk.work("c1", for: "chidi") }
            await desk.until { desk.queue.waiting == 2 }
            desk.letGo(5)
            try await group.waitForAll()
        }
        #expect(desk.order.prefix(4) == ["a1", "a2", "b1", "c1"])
        #expect(desk.order.count == 5 && desk.queue.waiting == 0)
    }

    @Test("nobody fills the queue alone, and what is larger than a share waits alone")
    func shares() async throws {
        let desk = Desk(places: 1, room: 10, share: 3)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await desk.work("a1", for: "ada") }
            await desk.until { desk.order.count == 1 }
            group.addTask { try await desk.work("a2", for: "ada", size: 5) }
            await desk.until { desk.queue.waiting == 1 }
            await #expect(throws: FairQueue.Full.self) { try await desk.work("a3", for: "ada") }
            for (waiting, size) in [(2, 1), (3, 2)] {
                group.addTask { try await desk.work("b", for: "bola", size: size) }
                await desk.until { desk.queue.waiting == waiting }
            }
            await #expect(throws: FairQueue.Full.self) { try await desk.work("b", for: "bola") }
            await #expect(throws: FairQueue.Full.self) { try await desk.work("c", for: "chidi", size: 3) }
            desk.letGo(4)
            try await group.waitForAll()
        }
        #expect(desk.order.count == 4 && desk.queue.waiting == 0)
    }

    @Test("who is cancelled leaves the queue, and the place goes to the next")
    func cancelled() async throws {
        let desk = Desk(places: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await desk.work("a1", for: "ada") }
            await desk.until { desk.order.count == 1 }
            await withTaskGroup(of: Bool.self) { impatient in
                impatient.addTask {
                    do {
                        try await desk.work("b1", for: "bola")
                        return false
                    } catch {
                        return error is CancellationError
                    }
                }
                await desk.until { desk.queue.waiting == 1 }
                impatient.cancelAll()
                let hasLeft = await impatient.next()
                #expect(hasLeft == true)
            }
            #expect(desk.queue.waiting == 0)
            group.addTask { try await desk.work("c1", for: "chidi") }
            await desk.until { desk.queue.waiting == 1 }
            desk.letGo(2)
            try await group.waitForAll()
        }
        #expect(desk.order == ["a1", "c1"])
    }
}
