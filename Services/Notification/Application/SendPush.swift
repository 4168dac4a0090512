import Foundation
import Messaging
import Primitives
import ServiceKit

/// Takes pushes to phones.
///
/// Only jobs call it.
protocol PushSender: Sendable {
    func send(_ message: PushMessage) async -> PushOutcome
}

/// Job: tells one phone of one message; its key names both.
///
/// A job may run twice when its worker dies between Apple's answer and the commit. Both attempts have the same id and the
/// same collapse id, so the phone shows one message.
struct SendPush: Sendable {
    let database: EventDatabase
    let pushes: PushStore
    let keys: any DataKeys
    let sender: any PushSender
    let clock: any TimeSource

    /// A message that is older tells nothing new.
    static let lifetime = Duration.seconds(24 * 3600)
    /// The time a call may take.
    static let deadline = Duration.seconds(10)

    /// The job's key.
    static func key(_ notification: UUID, _ token: UUID) -> String {
        "\(notification.lowercased):\(token.lowercased)"
    }

    /// Runs the job.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let (notification, tokenID) = Self.parts(of: job.key),
            let draft = try await self.pushes.find(notification, for: tokenID, on: self.database)
        else { return .cancelled(reason: "message_or_token_gone") }
        let expires = draft.createdAt.addingTimeInterval(Self.lifetime / .seconds(1))
        guard self.clock.now < expires else { return .cancelled(reason: "too_old") }
        guard let token = try await self.keys.open(draft.token, field: PushToken.field, of: draft.user) else {
            return .cancelled(reason: "erased")
        }
        let outcome = await self.sender.send(draft.message(to: token, expires: expires, tokenID: tokenID))
        switch outcome {
        case .taken: return .done
        case .later(let reason, let pause): return .again(reason: reason, after: pause)
        case .refused(let reason): return .failed(reason: reason)
        case .tokenGone(let since): return try await self.forget(tokenID, draft, since, job)
        }
    }

    /// A token that was registered again after Apple saw it go is good once more.
    private func forget(_ tokenID: UUID, _ draft: PushDraft, _ since: Date?, _ job: Job) async throws -> JobOutcome {
        if let since, draft.registeredAt > since {
            return .again(reason: "token_registered_again", after: .seconds(60))
        }
        try await self.database.transaction(cause: job.cause) { transaction in
            try await self.pushes.remove(tokenID, registeredUntil: draft.registeredAt, in: transaction)
        }
        return .cancelled(reason: "token_gone")
    }

    private static func parts(of key: String) -> (UUID, UUID)? {
        let parts = key.split(separator: ":")
        guard parts.count == 2, let notification = UUID(text: parts[0]), let token = UUID(text: parts[1]) else {
            return nil
        }
        return (notification, token)
    }
}

/// What a job finds about its push.
struct PushDraft: Sendable {
    let user: UserID
    let notificationID: UUID
    let category: NoticeCategory
    let kind: String
    let title: String
    let body: String
    let subject: String?
    let createdAt: Date
    let unread: Int64
    let showsAmounts: Bool
    /// Sealed.
    let token: String
    let registeredAt: Date

    func message(to token: String, expires: Date, tokenID: UUID) -> PushMessage {
        // A kind of an older version has no words of its own any more.
        let discreet = NoticeKind(rawValue: self.kind)?.discreet ?? "Open the app to read it."
        return PushMessage(
            id: PushMessage.id(of: self.notificationID, to: tokenID),
            token: token,
            title: self.title,
            body: self.showsAmounts ? self.body : discreet,
            category: self.category,
            kind: self.kind,
            notificationID: self.notificationID,
            subject: self.subject,
            unread: self.unread,
            expires: expires
        )
    }
}
