import Contracts
import Foundation

/// Finds out what a type reads by letting it read: each question that its decoder is asked is written down.
///
/// So the schema cannot say anything else than the code: a member is required when the type reads it without asking
/// whether it is there. What cannot be found out in this way is an error and not a guess.
public enum ShapeRecorder {
    /// Why a type cannot be described.
    public struct Undescribed: Error, CustomStringConvertible {
        /// One sentence.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    /// What a type reads.
    ///
    /// - Throws: `Undescribed`.
    public static func shape(of type: any Decodable.Type) throws -> ValueShape { try self.read(type).shape }

    /// A value of the type, made of nothing, and what it asked for.
    static func read<Value: Decodable>(_ type: Value.Type) throws -> (value: Value, shape: ValueShape) {
        if let known = type as? any SelfDescribing.Type, let value = known.emptyValue as? Value {
            return (value, try known.shape())
        }
        let recording = Recording()
        let value: Value
        do {
            value = try Value(from: RecordingDecoder(recording: recording))
        } catch let problem as Undescribed {
            throw problem
        } catch {
            throw Undescribed("\(type) takes no empty value (a closed enumeration? `Open` is described): \(error)")
        }
        guard let shape = recording.shape else { throw Undescribed("\(type) reads nothing") }
        return (value, shape)
    }
}

/// What has been asked for so far.
final class Recording {
    private var scalar: ValueShape?
    private var fields: [FieldShape]?
    /// The member whose presence was asked for last.
    private var questioned: String?

    /// What it comes to; nil when nothing was asked for.
    var shape: ValueShape? {
        self.scalar ?? self.fields.map { fields in .object(fields.sorted { $0.name < $1.name }) }
    }

    func beginObject() { self.fields = self.fields ?? [] }

    /// Somebody wants to know whether a member is there: then it need not be.
    func question(_ name: String) { self.questioned = name }

    func add(_ name: String, _ shape: ValueShape) {
        self.fields = (self.fields ?? []) + [FieldShape(name, shape, isRequired: self.questioned != name)]
        self.questioned = nil
    }

    func set(_ shape: ValueShape) { self.scalar = shape }
}

/// A type whose decoder would not say everything.
protocol SelfDescribing {
    static var emptyValue: Any { get }
    static func shape() throws -> ValueShape
}

extension UUID: SelfDescribing {
    static var emptyValue: Any { UUID() }
    static func shape() -> ValueShape { .text(format: "uuid") }
}

extension Sealed: SelfDescribing {
    static var emptyValue: Any { Sealed("") }
    static func shape() -> ValueShape { .text(format: "sealed") }
}

extension Open: SelfDescribing where Known: CaseIterable {
    static var emptyValue: Any { Open("") }
    static func shape() -> ValueShape { .words(Known.allCases.map(\.rawValue).sorted()) }
}

extension Array: SelfDescribing where Element: Decodable {
    static var emptyValue: Any { Self() }
    static func shape() throws -> ValueShape { .list(try ShapeRecorder.shape(of: Element.self)) }
}
