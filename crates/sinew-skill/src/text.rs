//! Bytes to text: a byte order mark removed, line ends as LF, and nothing that is not text.

use std::borrow::Cow;

use sinew_settings::{Reason, ReasonCode};

/// Decodes the bytes of a skill file.
pub(crate) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Reason> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Reason::new(
            ReasonCode::NotUtf8,
            format!("byte 0x{:02X} at offset {at} is not UTF-8", bytes[at]),
        )
        .line(line_at(bytes, at))
        .remedy("save the file as UTF-8")
    })?;
    if let Some(at) = memchr::memchr(b'\0', bytes) {
        return Err(Reason::new(ReasonCode::NulByte, format!("NUL byte at offset {at}"))
            .line(line_at(bytes, at))
            .remedy("remove the NUL byte; a skill file is plain text"));
    }
    if memchr::memchr(b'\r', bytes).is_none() {
        return Ok(Cow::Borrowed(text));
    }
    Ok(Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")))
}

/// The line of an offset; LF, CRLF and CR each end a line.
fn line_at(bytes: &[u8], offset: usize) -> usize {
    let before = &bytes[..offset];
    let lf = before.iter().filter(|&&byte| byte == b'\n').count();
    let lone_cr = |pair: &[u8]| pair[0] == b'\r' && pair[1] != b'\n';
    1 + lf + before.windows(2).filter(|pair| lone_cr(pair)).count()
}
