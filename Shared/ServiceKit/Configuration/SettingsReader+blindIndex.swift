import Foundation
public import Sealing

extension SettingsReader {
    /// The index that a key in base64 makes.
    ///
    /// - Throws: `ConfigurationProblem` when it is missing or not of 32 bytes.
    public func blindIndex(_ key: SettingKey) throws(ConfigurationProblem) -> BlindIndex {
        guard let bytes = Data(base64Encoded: try self.text(key)), let index = try? BlindIndex(key: bytes) else {
            throw Self.problem(key, "must be base64 of 32 bytes")
        }
        return index
    }
}
