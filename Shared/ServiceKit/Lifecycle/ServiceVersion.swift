/// The version of the suite; all services are released together.
public enum ServiceVersion {
    /// As in the change log.
    public static let text = "0.1.0"
}
