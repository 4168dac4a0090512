import AnchorClient
import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

extension Restored {
    private var desk: WalletDeskStore { WalletDeskStore(client: self.world.work.client) }

    /// What operators are shown of a wallet that is blocked; nil when it is not.
    fileprivate func blocked(_ user: UserID) async throws -> BlockedWallet? {
        let text = try await self.desk.blocked(limit: 10)
        return try JSONDecoder().decode([BlockedWallet].self, from: Data(text.utf8)).first { $0.user == user.uuid }
    }

    fileprivate func unblocks(_ user: UUID, owing owed: Int64 = 0) async throws -> WalletDeskStore.Unblocking {
        try await self.world.work.transaction(cause: Cause()) { transaction in
            try await self.desk.unblock(user, owing: owed, by: .grace, in: transaction)
        }
    }

    /// Account tells of money from outside.
    fileprivate func hears(of credit: WalletCredit) async throws -> [JobOutcome] {
        let payload = String(decoding: try JSONEncoder().encode(credit), as: UTF8.self)
        let credits = CreditWallets(database: self.world.work, store: SubmissionStore())
        return try await credits([self.job(credit.providerPaymentID, payload)])
    }
}

private struct BlockedWallet: Decodable, Equatable {
    let user: UUID
    let posted: Int64
    let isBelowZero: Bool
    let owed: Int64

    private enum CodingKeys: String, CodingKey {
        case user = "user_id"
        case posted
        case isBelowZero = "below_zero"
        case owed
    }
}

@Suite("What operators decide after a restore")
struct RecoveryDeskTests {
    @Test("a difference that an operator accepts holds a recovery open no more, until another one is found")
    func difference() async throws {
        try await withRestored { restored in
            let lookAll = {
                for account in Restored.accounts { try await restored.looks(at: account) }
            }
            restored.provider.differs("ada-account", by: 40)
            try await restored.begins()
            try await lookAll()
            #expect(try await restored.accepts("ada-account") == .notLookedAt)
            try await restored.world.passes(.seconds(121))
            try await lookAll()
            #expect(try await restored.accepts("bayo-account") == .agrees)
            #expect(try await restored.accepts("another-account") == .missing)
            #expect(try await restored.ends() == .incomplete)
            let seen = try await restored.mark(of: "ada-account")
            #expect(try await restored.store.state()?.contains(#""mark":"\#(seen)""#) == true)
            #expect(try await restored.accepts("ada-account", as: "0badf00d") == .changed)
            for _ in 1...2 { #expect(try await restored.accepts("ada-account", as: seen) == .accepted) }
            // Money that comes in meanwhile makes no other difference of it.
            try await restored.world.funds("ada-account", 500, "6-anc_py")
            restored.provider.receives("ada-account", 500, "6-anc_py", at: restored.world.clock.now)
            try await lookAll()
            let state = try #require(try await restored.store.state())
            #expect(state.contains(#""accepted_by":"grace","accept_reason":"a test""#), "\(state)")
            #expect(state.contains(#""accounts":0,"#) && state.contains("balance: they have 40 kobo more than we"))

            restored.provider.differs("ada-account", by: 1)
            try await lookAll()
            #expect(try await restored.ends() == .incomplete)
            #expect(try await restored.store.state()?.contains("accepted_by") == false)
            #expect(try await restored.accepts("ada-account") == .accepted)
            #expect(try await restored.ends() == .ended)
            #expect(try await restored.accepts("bayo-account") == .ended)
            let acts = try await restored.world.acts("recovery.")
            #expect(acts.count == 4)
            let id = try #require(acts.first?.split(separator: "|").dropFirst(2).first)
            #expect(acts.first?.hasPrefix("restore|recovery.begun|\(id)|the disk is gone||") == true)
            let of = { (detail: String) in
                "grace|recovery.difference_accepted|\(id)|a test|"
                    + #"|{"account":"ada-account","detail":"\#(detail)","differences":1}|"#
            }
            #expect(acts[1] == of("balance: they have 40 kobo more than we account for"))
            #expect(acts[2] == of("balance: they have 41 kobo more than we account for"))
            #expect(acts[3] == #"grace|recovery.ended|\#(id)|a test||{"forgotten":0}|"#)
        }
    }

    @Test("an account that nobody can look at is accepted by people too, until it can be")
    func unreadable() async throws {
        try await withRestored { restored in
            let lookAll = {
                for account in Restored.accounts { _ = try await restored.looks(at: account) }
            }
            try await restored.begins()
            try await restored.world.passes(.seconds(121))
            restored.provider.listsTooMuch(of: "ada-account")
            try await lookAll()
            #expect(try await restored.looks(at: "ada-account") == .failed(reason: "too_many_rows"))
            #expect(try await restored.ends() == .incomplete)
            #expect(try await restored.store.state()?.contains("unreadable: too_many_rows") == true)
            #expect(try await restored.accepts("ada-account") == .accepted)
            #expect(try await restored.ends() == .ended)
        }
    }

    @Test("of more differences than are written down another one is noticed too")
    func many() async throws {
        try await withRestored { restored in
            let now = restored.world.clock.now
            func list(_ number: Int) {
                let reference = "by-hand-\(100 + number)"
                restored.provider.moves(reference, 5, from: "ada-account", bank: "b", status: .pending, at: now)
            }
            for number in 1...21 { list(number) }
            try await restored.begins()
            try await restored.world.passes(.seconds(121))
            for account in Restored.accounts { try await restored.looks(at: account) }
            #expect(try await restored.accepts("ada-account") == .accepted)
            // As many, and the first twenty are the same.
            restored.provider.forgets("by-hand-121")
            list(22)
            try await restored.looks(at: "ada-account")
            #expect(try await restored.ends() == .incomplete)
        }
    }

    @Test("several differences are written down in one order, so that an acceptance of them stays")
    func several() async throws {
        try await withRestored { restored in
            let now = restored.world.clock.now
            let list = { (numbers: [Int]) in
                for number in numbers {
                    let reference = "by-hand-\(number)"
                    restored.provider.moves(reference, 5, from: "ada-account", bank: "b", status: .pending, at: now)
                }
            }
            list([1, 2, 3])
            try await restored.begins()
            try await restored.world.passes(.seconds(121))
            for account in Restored.accounts { try await restored.looks(at: account) }
            let state = try #require(try await restored.store.state())
            for number in 1...3 { #expect(state.contains("missing_with_us by-hand-\(number)-anc_trsf"), "\(state)") }
            #expect(try await restored.accepts("ada-account") == .accepted)
            list([3, 1, 2])
            try await restored.looks(at: "ada-account")
            #expect(try await restored.ends() == .ended)
        }
    }

    @Test("wallets that went below zero, or whose owner had spent what was taken back, send again when unblocked")
    func wallets() async throws {
        try await withRestored { restored in
            let (world, provider) = (restored.world, restored.provider)
            let paid = try await world.pays("bayo", 300)
            try await restored.submits([paid])
            let reference = TransferReference.text(of: paid)
            provider.moves(reference, 300, from: "ada-account", to: "bayo-account", at: world.clock.now)
            try await restored.begins()
            provider.moves("spent", 300, from: "bayo-account", bank: "a-bank", at: world.clock.now)
            try await restored.looks(at: "bayo-account")
            #expect(try await restored.wallet(world.bayo) == 0)
            #expect(try await restored.unblocks(world.bayo.uuid) == .notBlocked)
            // The provider takes back what Bayo has spent, and Ada's wallet pays more than it has.
            provider.moves(
                reference,
                300,
                from: "ada-account",
                to: "bayo-account",
                status: .reversed,
                at: world.clock.now
            )
            provider.moves("left", 1100, from: "ada-account", bank: "a-bank", at: world.clock.now)
            try await restored.looks(at: "ada-account")
            let owes = BlockedWallet(user: world.bayo.uuid, posted: 0, isBelowZero: false, owed: 300)
            let isBelow = BlockedWallet(user: world.ada.uuid, posted: -100, isBelowZero: true, owed: 0)
            #expect(try await restored.blocked(world.bayo) == owes)
            #expect(try await restored.blocked(world.ada) == isBelow)

            #expect(try await restored.unblocks(world.bayo.uuid, owing: 200) == .changed)
            #expect(try await restored.unblocks(world.bayo.uuid, owing: 300) == .unblocked)
            #expect(try await restored.unblocks(world.ada.uuid) == .belowZero)
            try await world.funds("ada-account", 150, "8-anc_py")
            #expect(try await restored.unblocks(world.ada.uuid) == .unblocked)
            #expect(try await restored.unblocks(UUID()) == .missing)
            #expect(try await restored.blocked(world.ada) == nil)
            #expect(try await restored.blocked(world.bayo) == nil)
            let of = { (user: UserID, posted: Int, owed: Int) in
                #"grace|wallet.unblocked|\#(user)|a test|{"blocked":true,"held":0,"posted":\#(posted)}|"#
                    + #"{"blocked":false,"owed":\#(owed)}|"#
            }
            #expect(try await world.acts("wallet.") == [of(world.bayo, 0, 300), of(world.ada, 50, 0)])
        }
    }

    @Test("money of a forgotten transfer that came back waits for that to be booked, and is nobody's at no time")
    func cameBack() async throws {
        try await withRestored { restored in
            let (world, provider) = (restored.world, restored.provider)
            let forgotten = world.ids.next()
            let reference = TransferReference.text(of: forgotten)
            let credit = WalletCredit(
                providerPaymentID: "7-anc_py",
                account: "ada-account",
                amount: 300,
                reference: reference,
                isUnmatched: true
            )
            try await restored.begins()
            #expect(try await restored.hears(of: credit) == [.again(reason: "recovering", after: .seconds(10))])
            provider.moves(reference, 300, from: "ada-account", bank: "a-bank", status: .reversed, at: world.clock.now)
            try await restored.looks(at: "ada-account")
            #expect(try await restored.hears(of: credit) == [.done])
            #expect(try await restored.wallet(world.ada) == 1000)
            #expect(try await SuspenseStore(client: world.work.client).waiting(limit: 10).isEmpty)
            let checks = "SELECT count(*) FROM jobs WHERE kind = 'check_transfer' AND key = '\(forgotten.lowercased)'"
            #expect(try await world.number(checks) == 1)
        }
    }
}
