import COpenSSL

/// Keeps libcrypto from freeing its locks while the process ends.
///
/// Its `atexit` handler does, and other threads may be hashing at that moment: they would crash. So it is told before
/// `main`, and before anybody else uses it, not to install one; the kernel takes everything back anyway.
@used
@section(".init_array")
private let leavesLocksAtExit: @convention(c) () -> Void = {
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
}
