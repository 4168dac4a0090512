public import ObjectStorage
public import OutgoingHTTP

/// Where a service keeps images.
public struct ImageStoreSettings: Sendable {
    /// The settings, for a service's own list.
    public static let keys = [Self.url, Self.accessKey, Self.secretKey]

    static let url = SettingKey(
        "IMAGE_STORE_URL",
        .url(["file", "s3"]),
        class: .store,
        "where images are kept: file:///folder or s3://bucket?endpoint=https://host&region=name"
    )
    static let accessKey = SettingKey(
        "AWS_ACCESS_KEY_ID",
        .text,
        class: .plain,
        default: "",
        "access key of the bucket"
    )
    static let secretKey = SettingKey(
        "AWS_SECRET_ACCESS_KEY",
        .text,
        class: .given(characters: 16),
        default: "",
        secret: true,
        "its secret"
    )

    private let location: ObjectStoreLocation
    private let credentials: S3Credentials?

    /// Reads them.
    ///
    /// - Throws: `ConfigurationProblem`.
    public init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        do {
            self.location = try ObjectStoreLocation(url: try reader.text(Self.url))
        } catch let problem as LocationProblem {
            throw SettingsReader.problem(Self.url, problem.reason)
        } catch {
            throw error as? ConfigurationProblem ?? SettingsReader.problem(Self.url, "cannot be read")
        }
        guard case .bucket = self.location else {
            self.credentials = nil
            return
        }
        let (id, secret) = (try reader.text(Self.accessKey), try reader.text(Self.secretKey))
        guard !id.isEmpty else { throw SettingsReader.problem(Self.accessKey, "not set, and IMAGE_STORE_URL is s3://") }
        guard !secret.isEmpty else {
            throw SettingsReader.problem(Self.secretKey, "not set, and IMAGE_STORE_URL is s3://")
        }
        self.credentials = S3Credentials(id: id, secret: secret)
    }

    /// The store.
    ///
    /// - Throws: `ConfigurationProblem` for a folder that cannot be used.
    public func store(http: HTTPClient) throws(ConfigurationProblem) -> any ObjectStore {
        do {
            return try self.location.store(credentials: self.credentials, http: http)
        } catch {
            throw SettingsReader.problem(Self.url, "names a folder that cannot be written (\(error))")
        }
    }
}
