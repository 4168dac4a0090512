import Contracts
import Primitives

/// What identifies a user to the provider, checked and in its stored form.
struct UserDetails: Hashable, Sendable {
    var identity: IdentityDetails
    var contact: ContactDetails?

    /// Whether the provider's form can be filled in.
    var isComplete: Bool {
        guard let contact = self.contact else { return false }
        switch self.identity {
        case .person: return contact.gender != nil
        case .business(let business): return business.hasAllTheProviderNeeds
        }
    }

    /// How far sign-up is with these details.
    var status: OnboardingStatus { self.isComplete ? .onboardingInitiated : .awaitingDetails }
}

/// Person or business.
enum IdentityDetails: Hashable, Sendable {
    case person(KYCDetails)
    case business(KYBDetails)

    /// The account type that goes with it.
    var accountType: AccountType {
        switch self {
        case .person: .personal
        case .business: .merchant
        }
    }
}

/// How far sign-up is, before the provider has its say.
enum OnboardingStatus: String, Sendable {
    /// Something the provider needs is missing.
    case awaitingDetails = "awaiting_details"
    /// All is there; the rest goes by itself.
    case onboardingInitiated = "onboarding_initiated"
}

extension KYBDetails {
    fileprivate var hasAllTheProviderNeeds: Bool {
        self.registrationType != nil && self.industry != nil && self.dateOfRegistration != nil
            && self.businessBvn != nil && self.description != nil && self.director != nil
    }
}
