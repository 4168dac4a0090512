import COpenSSL

/// Certificates (X.509), as far as settings have to know of them.
public enum Certificates {
    /// How many certificates a text in PEM has, up to the first that cannot be read.
    public static func count(in text: String) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            guard let input = BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count)) else { return 0 }
            defer { BIO_free(input) }
            // The end is an error too, and no error stays behind.
            defer { ERR_clear_error() }
            var count = 0
            while let certificate = PEM_read_bio_X509(input, nil, nil, nil) {
                X509_free(certificate)
                count += 1
            }
            return count
        }
    }
}
