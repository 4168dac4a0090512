import Cryptography
import Foundation
import Testing

@Suite("The end of a process")
struct ProcessExitTests {
    @Test("a process ends well while eight of its threads hash", arguments: 0..<10)
    func hashing(turn _: Int) async {
        await #expect(processExitsWith: .success) {
            let text = Array("hashed until the end".utf8)
            for _ in 0..<8 {
                Thread { while true { _ = SHA256.hash(data: text) } }.start()
            }
            usleep(50_000)
            exit(0)
        }
    }
}
