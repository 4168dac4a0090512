import Contracts
import Foundation
import Primitives

/// What people are told about their profile.
extension Notice {
    /// The wallet has a number.
    static func walletReady(_ data: AccountOpened) -> Notice {
        Notice(data.userID, .walletReady, NoticeText.walletReady, about: data.accountID)
    }

    /// Somebody, hopefully the user, added a device.
    static func deviceRegistered(_ data: DeviceRegistered) -> Notice {
        Notice(data.userID, .deviceAdded, NoticeText.deviceAdded, about: data.deviceID)
    }

    /// A device was removed.
    static func deviceRevoked(_ data: DeviceRevoked) -> Notice {
        Notice(data.userID, .deviceRemoved, NoticeText.deviceRemoved, about: data.deviceID)
    }

    /// Somebody, hopefully the user, added a bank account.
    static func beneficiaryAdded(_ data: BeneficiaryAdded) -> Notice {
        Notice(
            data.userID,
            .beneficiaryAdded,
            NoticeText.beneficiaryAdded(bank: data.bankName),
            about: data.beneficiaryID
        )
    }

    /// Somebody, hopefully the user, chose the first PIN.
    static func pinSet(_ data: PINSet) -> Notice {
        Notice(data.userID, .pinSet, NoticeText.pinSet, about: data.setID)
    }

    /// Somebody sent too many wrong PINs.
    static func pinLocked(_ data: PINLocked) -> Notice {
        Notice(data.userID, .pinLocked, NoticeText.pinLocked, about: data.lockID)
    }

    /// Somebody, hopefully the user, replaced the PIN.
    static func pinReset(_ data: PINReset) -> Notice {
        Notice(data.userID, .pinReset, NoticeText.pinReset, about: data.resetID)
    }

    /// Somebody who knew the PIN, hopefully the user, changed it.
    static func pinChanged(_ data: PINChanged) -> Notice {
        Notice(data.userID, .pinChanged, NoticeText.pinChanged, about: data.changeID)
    }

    /// A bank account was removed.
    static func beneficiaryRemoved(_ data: BeneficiaryRemoved) -> Notice {
        Notice(data.userID, .beneficiaryRemoved, NoticeText.beneficiaryRemoved, about: data.beneficiaryID)
    }

    /// What the user may do changed.
    static func restricted(_ data: UserRestricted) -> Notice {
        Notice(data.userID, .restricted, NoticeText.restricted(data.restriction))
    }

    /// What the user may send and hold changed.
    static func tierChanged(_ data: UserTierChanged) -> Notice {
        Notice(data.userID, .tierChanged, NoticeText.tierChanged(isHigher: data.tier > data.before))
    }

    /// Somebody, hopefully the user, asked for all that is held about the user.
    static func exportReady(_ data: UserExportReady) -> Notice {
        Notice(data.userID, .exportReady, NoticeText.exportReady, about: data.exportID)
    }

    /// The provider did not take the details, so there is no identity check before others come.
    static func detailsRefused(_ data: CustomerDetailsRefused) -> Notice {
        Notice(data.userID, .notVerified, NoticeText.detailsRefused(data.reason))
    }

    /// What became of the identity check.
    static func verdict(_ verdict: IdentityVerdict, of user: UserID) -> Notice {
        let kind: NoticeKind = verdict == .approved ? .verified : .notVerified
        return Notice(user.uuid, kind, NoticeText.notVerified(verdict))
    }
}
