import Contracts

/// What a person wants to hear, and where.
struct NotificationPreferences: Hashable, Sendable {
    /// A category on a channel.
    struct Choice: Hashable, Sendable {
        let category: NoticeCategory
        let channel: NoticeChannel

        /// As the table has it.
        var text: String { "\(self.category.rawValue).\(self.channel.rawValue)" }
    }

    /// What is turned off.
    var muted: Set<Choice> = []
    /// Whether pushes say amounts: not unless the person asks for it, because a push lies open on a locked phone.
    var showsAmounts = false

    /// Whether a category is heard on a channel.
    func hears(_ category: NoticeCategory, on channel: NoticeChannel) -> Bool {
        !self.muted.contains(Choice(category: category, channel: channel))
    }

    /// With the changes that a person wants; what is left out stays.
    ///
    /// - Throws: When something is turned off that is always heard.
    func changed(by request: NotificationPreferencesRequest) throws(NotificationError) -> NotificationPreferences {
        var result = self
        result.showsAmounts = request.showAmounts ?? self.showsAmounts
        for category in NoticeCategory.allCases {
            let wanted = request.categories?[category]
            try result.set(category, .inApp, wanted?.inApp)
            try result.set(category, .push, wanted?.push)
        }
        return result
    }

    private mutating func set(
        _ category: NoticeCategory,
        _ channel: NoticeChannel,
        _ isOn: Bool?
    ) throws(NotificationError) {
        guard let isOn else { return }
        let choice = Choice(category: category, channel: channel)
        if isOn {
            self.muted.remove(choice)
        } else {
            guard !category.isAlwaysHeard else { throw .notSuppressible(choice) }
            self.muted.insert(choice)
        }
    }
}

extension NotificationCategories {
    /// The wishes about one category.
    subscript(category: NoticeCategory) -> NotificationChannels? {
        switch category {
        case .money: self.money
        case .security: self.security
        case .account: self.account
        case .requests: self.requests
        case .drops: self.drops
        case .subscription: self.subscription
        }
    }
}
