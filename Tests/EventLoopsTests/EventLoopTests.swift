import EventLoops
import Foundation
import Testing

/// An actor on a loop, as the clients have them.
private actor Pinned {
    let loop: EventLoopThread
    private(set) var log: [Int] = []
    private var timers: [Int: TimerID] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { self.loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoopThread) { self.loop = loop }

    func note(_ number: Int) { self.log.append(number) }

    func checkIsolated() -> Bool {
        self.loop.checkIsolated()
        return self.loop.isIsolatingCurrentContext() == true
    }

    /// Notes each number after its delay, but for those cancelled at once.
    ///
    /// All are counted from the same moment.
    func schedule(_ timers: [(number: Int, delay: Duration)], cancelling cancelled: Set<Int>) {
        for (number, delay) in timers {
            let timer = self.loop.schedule(after: delay) { self.assumeIsolated { $0.log.append(number) } }
            self.timers[number] = timer
        }
        for number in cancelled { self.cancel(number) }
    }

    func cancel(_ number: Int) {
        if let timer = self.timers[number] { self.loop.cancel(timer) }
    }

    func wait(_ delay: Duration) async {
        await withCheckedContinuation { continuation in
            self.loop.schedule(after: delay) { continuation.resume() }
        }
    }

    /// Watches a descriptor until it is ready, once, and hands on for what.
    func watch(
        _ descriptor: CInt,
        for interest: EventLoopThread.Interest,
        _ events: AsyncStream<EventLoopThread.Interest>.Continuation
    ) {
        self.loop.watch(descriptor, for: interest) { ready in
            self.loop.unwatch(descriptor)
            events.yield(ready)
        }
    }

    func unwatch(_ descriptor: CInt) { self.loop.unwatch(descriptor) }

    func threadName() throws -> String {
        try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
    }
}

private func withLoop(_ body: (EventLoopThread) async throws -> Void) async rethrows {
    let loop = EventLoopThread(name: "test-loop")
    defer { loop.stop() }
    try await body(loop)
}

@Suite struct EventLoopTests {
    @Test("bodies handed in run in their order, each on the loop's thread")
    func order() async {
        await withLoop { loop in
            let log = Locked<[Int]>([])
            let isElsewhere = Locked(false)
            await withCheckedContinuation { continuation in
                for number in 0..<2_000 {
                    loop.submit {
                        if loop.isIsolatingCurrentContext() != true { isElsewhere.withLock { $0 = true } }
                        log.withLock { $0.append(number) }
                    }
                }
                loop.submit { continuation.resume() }
            }
            #expect(log.withLock { $0 } == Array(0..<2_000))
            #expect(isElsewhere.withLock { $0 } == false)
            #expect(loop.isIsolatingCurrentContext() == false)
        }
    }

    @Test("an actor's work is done on its loop, whoever calls and however many")
    func actorsAreIsolated() async {
        await withLoop { loop in
            let pinned = Pinned(loop)
            await withTaskGroup(of: Bool.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        await pinned.note(number)
                        return await pinned.checkIsolated()
                    }
                }
                for await isIsolated in group { #expect(isIsolated) }
            }
            #expect(await pinned.log.sorted() == Array(0..<500))
        }
    }

    @Test("timers fire in the order of their deadlines, and a cancelled one does not")
    func timers() async {
        await withLoop { loop in
            let pinned = Pinned(loop)
            let timers: [(Int, Duration)] = [
                (3, .milliseconds(60)), (1, .milliseconds(20)), (9, .milliseconds(30)), (2, .milliseconds(40)),
            ]
            await pinned.schedule(timers, cancelling: [9])
            await pinned.wait(.milliseconds(80))
            #expect(await pinned.log == [1, 2, 3])
            // Too late, and harmless.
            await pinned.cancel(1)
        }
    }

    @Test("timers of the same delay fire in the order of their making, many cancelled ones between them")
    func manyTimers() async {
        await withLoop { loop in
            let pinned = Pinned(loop)
            let numbers = 0..<1_000
            // The deadlines are a little apart, each later than the one before.
            await pinned.schedule(
                numbers.map { ($0, .milliseconds(20)) },
                cancelling: Set(numbers.filter { $0 % 10 != 0 })
            )
            await pinned.wait(.milliseconds(50))
            #expect(await pinned.log == Array(stride(from: 0, to: 1_000, by: 10)))
        }
    }

    @Test("a descriptor is watched for what was asked, the interest can change and end")
    func watching() async throws {
        try await withLoop { loop in
            var ends: [CInt] = [-1, -1]
            try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
            let (near, far) = (ends[0], ends[1])
            defer {
                close(near)
                close(far)
            }
            let pinned = Pinned(loop)
            let (stream, events) = AsyncStream.makeStream(of: EventLoopThread.Interest.self)
            var seen = stream.makeAsyncIterator()
            await pinned.watch(near, for: .read, events)
            #expect(write(far, "x", 1) == 1)
            #expect(await seen.next() == .read)
            await pinned.watch(near, for: [.read, .write], events)
            #expect(await seen.next() == [.read, .write])
            let (later, quiet) = AsyncStream.makeStream(of: EventLoopThread.Interest.self)
            await pinned.watch(near, for: [], quiet)
            await pinned.wait(.milliseconds(20))
            quiet.finish()
            var count = 0
            for await _ in later { count += 1 }
            #expect(count == 0)
            await pinned.unwatch(near)
            // Forgetting what is not watched is nothing.
            await pinned.unwatch(near)
        }
    }

    @Test("the end of the other side wakes both who reads and who writes")
    func hangUp() async throws {
        try await withLoop { loop in
            var ends: [CInt] = [-1, -1]
            try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
            let near = ends[0]
            defer { close(near) }
            let pinned = Pinned(loop)
            let (stream, events) = AsyncStream.makeStream(of: EventLoopThread.Interest.self)
            var seen = stream.makeAsyncIterator()
            await pinned.watch(near, for: .read, events)
            close(ends[1])
            #expect(await seen.next() == [.read, .write])
            await pinned.unwatch(near)
        }
    }

    @Test("a thread bears its loop's name, and ends after stop when nobody needs it")
    func stopping() async throws {
        let name = "stop-\(UInt16.random(in: 0...9_999))"
        var pinned: Pinned? = Pinned(EventLoopThread(name: name))
        pinned?.loop.stop()
        // Told to stop, it still works for the actor that holds it.
        await pinned?.note(1)
        #expect(await pinned?.log == [1])
        #expect(try await pinned?.threadName() == name)
        pinned = nil
        let end = ContinuousClock.now + .seconds(10)
        while try Self.threadNames().contains(name), ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try !Self.threadNames().contains(name))
    }

    @Test("loops that are given up while they are being asked answer, and are there until they were asked")
    func givenUp() async {
        let answered = await withTaskGroup(of: Int.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let pinned = Pinned(EventLoopThread(name: "given-up"))
                    pinned.loop.stop()
                    await pinned.note(number)
                    return await pinned.log.count
                }
            }
            return await group.reduce(0, +)
        }
        #expect(answered == 400)
    }

    @Test("a blocking call on a side thread holds up neither the loop nor the pool")
    func sideThread() async {
        await withLoop { loop in
            let pinned = Pinned(loop)
            let gate = Locked(false)
            async let answer = SideThread.run {
                while !gate.withLock({ $0 }) { usleep(1_000) }
                return 42
            }
            await pinned.note(1)
            #expect(await pinned.log == [1])
            gate.withLock { $0 = true }
            let value = await answer
            #expect(value == 42)
        }
    }

    private static func threadNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap {
            try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
        }
    }
}

@Suite struct LockedTests {
    @Test("changes under the lock are never lost")
    func counting() async {
        let counter = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<10_000 { counter.withLock { $0 += 1 } } }
            }
        }
        #expect(counter.withLock { $0 } == 80_000)
    }
}

@Suite struct HandoverTests {
    /// What two threads touch, so that ThreadSanitizer has something to look at.
    private final class Box: @unchecked Sendable {
        var number: Int
        init(_ number: Int) { self.number = number }
    }

    @Test("a value arrives whether it is given before or after its receiver waits", arguments: [true, false])
    func order(isEarly: Bool) async {
        let box = await withHandover { (handover: Handover<Box>) in
            SideThread.start {
                if !isEarly { usleep(50_000) }
                handover.give(Box(7))
            }
            // Time and not an event: that would order the two threads, which is for the handover to do.
            if isEarly { usleep(50_000) }
        }
        #expect(box.number == 7)
    }
}
