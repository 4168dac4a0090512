import AMQP
import Postgres
import Redis
import Sealing

/// What may be said about an error in a log: its text when the type promises to leak nothing, else the type's name.
public enum SafeErrorText {
    /// A text without parameters, payloads and secrets.
    public static func describe(_ error: any Error) -> String {
        switch error {
        case let error as APIError: error.description
        case let error as PostgresError: "\(error)"
        case let error as AMQPError: "\(error)"
        case let error as RedisError: "\(error)"
        case let error as SealingError: "\(error)"
        case let error as ConfigurationProblem: error.description
        default: String(reflecting: type(of: error))
        }
    }
}
