//! Which program answers on a port that a server wanted.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::render;

/// A server of ours answers at once; waiting longer does not help.
const WAIT: Duration = Duration::from_secs(2);

/// As much of a page as says whose it is.
const MAX_PAGE: u64 = 16 * 1024;

/// What is known about the program that has a port.
#[derive(Debug)]
pub(super) struct PortHolder {
    /// Whether it is a server of sinew.
    pub(super) is_sinew: bool,
    /// Its name and its process, where the system tells.
    program: Option<(String, u32)>,
}

impl PortHolder {
    pub(super) fn of(address: SocketAddr) -> Self {
        Self {
            is_sinew: page(address).is_some_and(|page| is_ours(&page)),
            program: listener(address),
        }
    }

    /// Who it is, as a hint.
    pub(super) fn sentence(&self, address: SocketAddr) -> String {
        let port = address.port();
        match (&self.program, self.is_sinew) {
            (Some((_, process)), true) => {
                format!(
                    "a server of sinew has port {port} (process {process}): `sinew ui` joins it"
                )
            }
            (None, true) => format!("a server of sinew has port {port}: `sinew ui` joins it"),
            (Some((name, process)), false) => {
                format!("`{}` has port {port} (process {process})", render::safe(name))
            }
            (None, false) => format!("another program has port {port}"),
        }
    }
}

/// The page that signs in, as it is answered on an address.
fn page(address: SocketAddr) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&address, WAIT).ok()?;
    stream.set_read_timeout(Some(WAIT)).ok()?;
    stream.set_write_timeout(Some(WAIT)).ok()?;
    write!(stream, "GET /auth HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").ok()?;
    let mut bytes = Vec::new();
    // What came before a time-out is enough to know whose it is.
    let _ = stream.take(MAX_PAGE).read_to_end(&mut bytes);
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_ours(page: &str) -> bool {
    let (head, body) = page.split_once("\r\n\r\n").unwrap_or((page, ""));
    head.to_lowercase().contains("\nx-request-id:") && body.contains("sinew")
}

/// The program that listens on a port, from Linux's tables; only processes of the same user can be seen.
fn listener(address: SocketAddr) -> Option<(String, u32)> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
    let socket =
        tables.iter().flatten().find_map(|table| listening_socket(table, address.port()))?;
    let wanted = format!("socket:[{socket}]");
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let Ok(id) = process.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(files) = fs::read_dir(process.path().join("fd")) else { continue };
        let has = files
            .flatten()
            .any(|file| fs::read_link(file.path()).is_ok_and(|to| to.to_string_lossy() == wanted));
        if has {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            return Some((name.trim().to_owned(), id));
        }
    }
    None
}

/// The number of the socket that listens on a port, in a table of Linux.
fn listening_socket(table: &str, port: u16) -> Option<String> {
    const LISTEN: &str = "0A";
    let end = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_meant = fields.get(1)?.ends_with(&end) && *fields.get(3)? == LISTEN;
        is_meant.then(|| fields.get(9).map(|socket| (*socket).to_owned()))?
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::{PortHolder, listening_socket};

    #[test]
    fn a_table_of_linux_is_read() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1CF3 00000000:0000 01 00000000:00000000 00:00000000 00000000  0 0 1 1\n\
            1: 0100007F:1CF3 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 4711 1\n";
        assert_eq!(listening_socket(table, 7411).as_deref(), Some("4711"));
        assert_eq!(listening_socket(table, 7412), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_program_that_has_a_port_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        // The port stays held after its one answer.
        let answering = listener.try_clone().expect("a second handle");
        let answer = std::thread::spawn(move || drop(answering.accept()));
        let holder = PortHolder::of(address);
        assert!(!holder.is_sinew);
        assert_eq!(holder.program.map(|(_, id)| id), Some(std::process::id()));
        answer.join().expect("answered");
    }
}
