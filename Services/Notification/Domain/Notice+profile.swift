import Contracts
import Foundation
import Primitives

/// What people are told about their profile.
extension Notice {
    /// The wallet has a number.
    static func walletReady(_ data: AccountOpened) -> Notice {
        Notice(
            data.userID,
            "account.opened",
            "Wallet Ready",
            "Your wallet is ready. Add money by bank transfer to your account number.",
            about: data.accountID.lowercased
        )
    }

    /// Somebody, hopefully the user, added a device.
    static func deviceRegistered(_ data: DeviceRegistered) -> Notice {
        Notice(
            data.userID,
            "device.registered",
            "New Device",
            "A new device can approve payments. If this was not you, remove it and change your PIN now.",
            about: data.deviceID.lowercased
        )
    }

    /// A device was removed.
    static func deviceRevoked(_ data: DeviceRevoked) -> Notice {
        Notice(
            data.userID,
            "device.revoked",
            "Device Removed",
            "A device can no longer approve payments.",
            about: data.deviceID.lowercased
        )
    }

    /// Somebody, hopefully the user, replaced the PIN.
    static func pinReset(_ data: PINReset) -> Notice {
        Notice(
            data.userID,
            "pin.reset",
            "PIN Reset",
            "Your PIN was reset. If this was not you, sign out everywhere and contact support now.",
            about: data.resetID.lowercased
        )
    }

    /// What the user may do changed.
    static func restricted(_ data: UserRestricted) -> Notice {
        let sentence =
            switch data.restriction {
            case .known(.none): "All restrictions on your account were lifted."
            case .known(.postNoDebit): "You can receive money, but not send any for now. Please contact support."
            case .known(.frozen): "Your account is frozen. Please contact support."
            case .known(.closed): "Your account is closed."
            case .unknown: "What you can do with your account has changed. Please contact support."
            }
        return Notice(data.userID, "user.restricted", "Account Notice", sentence)
    }
}
