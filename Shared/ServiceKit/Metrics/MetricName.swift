/// Names and labels as Prometheus accepts them.
enum MetricName {
    static func metric(_ label: String) -> String { Self.cleaned(label, allowsColon: true) }
    static func label(_ name: String) -> String { Self.cleaned(name, allowsColon: false) }

    private static func cleaned(_ text: String, allowsColon: Bool) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if result.isEmpty {
                    result = "_"
                }
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ":") where allowsColon: result += ":"
            default: result += "_"
            }
        }
        return result.isEmpty ? "_" : result
    }

    /// A label's value between quotes.
    static func quoted(_ value: String) -> String {
        var result = "\""
        for character in value {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.append(character)
            }
        }
        return result + "\""
    }

    /// Numbers without a useless fraction.
    static func number(_ value: Double) -> String {
        if value == .infinity {
            return "+Inf"
        }
        guard value == value.rounded(), abs(value) < 1e15 else { return "\(value)" }
        return "\(Int64(value))"
    }
}
