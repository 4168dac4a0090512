/// First in, first out; an array whose front is dropped in large pieces.
struct Queue<Element> {
    private var storage: [Element] = []
    private var head = 0

    var isEmpty: Bool { self.head == self.storage.count }
    var first: Element? { self.isEmpty ? nil : self.storage[self.head] }
    var second: Element? { self.head + 1 < self.storage.count ? self.storage[self.head + 1] : nil }
    var last: Element? { self.isEmpty ? nil : self.storage[self.storage.count - 1] }
    var count: Int { self.storage.count - self.head }
    var elements: ArraySlice<Element> { self.storage[self.head...] }

    mutating func append(_ element: Element) { self.storage.append(element) }
    mutating func append(contentsOf elements: [Element]) { self.storage.append(contentsOf: elements) }

    mutating func removeFirst() {
        self.head += 1
        if self.isEmpty {
            self.storage.removeAll(keepingCapacity: true)
            self.head = 0
        } else if self.head > 1_024 {
            self.storage.removeFirst(self.head)
            self.head = 0
        }
    }

    mutating func removeAll(where condition: (Element) -> Bool) {
        self.storage.removeFirst(self.head)
        self.head = 0
        self.storage.removeAll(where: condition)
    }
}
