//! Options of programs that carry secrets, as a table: who takes one, and at which position.
//!
//! A row is about programs, a verb that must stand among their arguments (or none), an option, and
//! where the secret is. Long options whose names say what they carry (`--password`, `--token`) need
//! no row: a pattern of `secrets.json` knows them for every program.

/// Where a secret is, seen from its option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretPosition {
    /// The next word, or what follows `=`.
    Next,
    /// The next word or directly behind the option, among the options before the first operand: a
    /// command with options of its own follows.
    BeforeCommand,
    /// Directly behind the option; without anything there, the program asks.
    Glued,
    /// The next word, or directly behind the option.
    NextOrGlued,
    /// Like the one before, behind this character: `user:secret`.
    After(char),
    /// Behind the option, which is the start of any argument: `/p:secret`, `pass:secret`.
    AnyStart,
    /// The operand of this number behind the verb, from 0.
    Operand(usize),
    /// The last operand, where the option is among the flags.
    LastOperand,
    /// What the program reads from its input, where the option is among the flags.
    Input,
    /// The same, where each line is `user:secret`.
    InputAfterColon,
}

use SecretPosition::{
    After, AnyStart, BeforeCommand, Glued, Input, InputAfterColon, LastOperand, Next, NextOrGlued,
    Operand,
};

/// An option that carries a secret.
pub(super) struct SecretOption {
    /// The programs, with blanks between them.
    pub(super) programs: &'static str,
    /// A word that must be among the arguments; empty if none must.
    pub(super) verb: &'static str,
    /// The option; empty where the position needs none.
    pub(super) option: &'static str,
    pub(super) position: SecretPosition,
}

const fn row(
    programs: &'static str,
    verb: &'static str,
    option: &'static str,
    position: SecretPosition,
) -> SecretOption {
    SecretOption { programs, verb, option, position }
}

const MYSQL: &str = "mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlsh mycli \
                     mariadb mariadb-dump mariadb-admin mytop xtrabackup innobackupex percona";
const SEVEN_ZIP: &str = "7z 7za 7zr 7zz p7zip rar unrar";
const MONGO: &str = "mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat";
const LDAP: &str = "ldapsearch ldapmodify ldapadd ldapdelete ldappasswd ldapwhoami ldapcompare";
const MSSQL: &str = "sqlcmd bcp osql isql tsql mssql-cli fisql";
const ORACLE: &str = "sqlplus sqlldr impdp expdp rman sqlcl";
const KEYSTORE: &str = "keytool jarsigner apksigner";
const CONTAINERS: &str = "docker podman nerdctl buildah skopeo helm oras crane singularity";
const ATTACKS: &str =
    "crackmapexec nxc netexec evil-winrm hydra wmiexec.py psexec.py smbexec.py secretsdump.py";

/// The table.
pub(super) const OPTIONS: &[SecretOption] = &[
    // Transfers.
    row("curl", "", "-u", After(':')),
    row("curl", "", "--user", After(':')),
    row("curl", "", "-U", After(':')),
    row("curl", "", "--proxy-user", After(':')),
    row("curl", "", "--pass", Next),
    row("curl", "", "-E", After(':')),
    row("curl", "", "--cert", After(':')),
    row("curl", "", "-b", After('=')),
    row("curl", "", "--cookie", After('=')),
    row("http https xh xhs", "", "-a", After(':')),
    row("http https xh xhs", "", "--auth", After(':')),
    row("aria2c", "", "--http-passwd", Next),
    row("aria2c", "", "--ftp-passwd", Next),
    row("aria2c", "", "--rpc-secret", Next),
    row("wget", "", "--http-passwd", Next),
    row("lftp", "", "-u", After(',')),
    row("lftp", "", "--user", After(',')),
    row("ncftp ncftpput ncftpget ncftpls", "", "-p", Next),
    row("smbclient smbget rpcclient smbmap", "", "-U", After('%')),
    row("smbclient smbget rpcclient smbmap", "", "--user", After('%')),
    row("smbmap", "", "-p", Next),
    row("mount mount.cifs", "", "-o", After(' ')),
    row("rclone", "obscure", "", Operand(0)),
    row("mc mcli", "set", "", Operand(3)),
    row("s3cmd", "", "--secret_key", Next),
    row("openconnect", "", "--passwd-on-stdin", Input),
    // Remote machines.
    row("sshpass", "", "-p", BeforeCommand),
    row("plink pscp psftp putty kitty winscp", "", "-pw", Next),
    row("ssh-keygen", "", "-N", Next),
    row("ssh-keygen", "", "-P", Next),
    row("xfreerdp wfreerdp freerdp xfreerdp3", "", "/p:", AnyStart),
    row("rdesktop", "", "-p", Next),
    row("x11vnc", "", "-passwd", Next),
    row("psexec psexec64 paexec", "", "-p", Next),
    row("ipmitool", "", "-P", Next),
    row("snmpwalk snmpget snmpset snmpbulkwalk", "", "-A", Next),
    row("snmpwalk snmpget snmpset snmpbulkwalk", "", "-X", Next),
    row("snmpwalk snmpget snmpset snmpbulkwalk", "", "-c", Next),
    row(ATTACKS, "", "-p", Next),
    // Databases.
    row(MYSQL, "", "-p", Glued),
    row(MONGO, "", "-p", NextOrGlued),
    row("redis-cli valkey-cli keydb-cli", "", "-a", Next),
    row("redis-cli valkey-cli keydb-cli", "", "--pass", Next),
    row("redis-cli valkey-cli keydb-cli", "AUTH", "", Operand(0)),
    row("redis-cli valkey-cli keydb-cli", "auth", "", Operand(0)),
    row("redis-cli valkey-cli keydb-cli", "requirepass", "", Operand(0)),
    row(MSSQL, "", "-P", NextOrGlued),
    row(ORACLE, "", "", After('/')),
    row("cqlsh cypher-shell cbq couchbase-cli influx isql-fb fbsql", "", "-p", NextOrGlued),
    row("influx", "", "-password", Next),
    row("neo4j-admin", "set-initial-password", "", Operand(0)),
    row("clickhouse-client clickhouse", "", "--password", Next),
    row("rabbitmqctl", "add_user", "", Operand(1)),
    row("rabbitmqctl", "change_password", "", Operand(1)),
    row("mosquitto_pub mosquitto_sub", "", "-P", Next),
    row(LDAP, "", "-w", NextOrGlued),
    row("ldappasswd", "", "-s", Next),
    // Archives and documents.
    row("zip unzip zipcloak 7zip", "", "-P", NextOrGlued),
    row(SEVEN_ZIP, "", "-p", Glued),
    row(SEVEN_ZIP, "", "-hp", Glued),
    row("pdftk", "", "user_pw", Next),
    row("pdftk", "", "owner_pw", Next),
    row("pdftk", "", "input_pw", Next),
    row("qpdf", "--encrypt", "", Operand(0)),
    row("qpdf", "--encrypt", "", Operand(1)),
    row("pdftotext pdfimages pdfinfo pdftoppm", "", "-upw", Next),
    row("pdftotext pdfimages pdfinfo pdftoppm", "", "-opw", Next),
    row("steghide outguess", "", "-p", Next),
    // Keys.
    row("gpg gpg2", "", "--passphrase", Next),
    row("gpg gpg2", "", "--passphrase-fd", Input),
    row("openssl", "", "pass:", AnyStart),
    row("openssl", "", "-k", Next),
    row("openssl", "", "-K", Next),
    row("openssl", "", "stdin", Input),
    row(KEYSTORE, "", "-storepass", Next),
    row(KEYSTORE, "", "-keypass", Next),
    row(KEYSTORE, "", "-srcstorepass", Next),
    row(KEYSTORE, "", "-deststorepass", Next),
    row("apksigner", "", "pass:", AnyStart),
    row("oathtool", "", "", LastOperand),
    row("wg", "set", "private-key", Next),
    row("cryptsetup", "", "-", Input),
    row("signtool osslsigncode", "", "/p", Next),
    row("signtool osslsigncode", "", "-pass", Next),
    row("security", "", "-w", Next),
    row("security", "unlock-keychain", "-p", Next),
    row("security", "create-keychain", "-p", Next),
    row("security", "import", "-P", Next),
    // Users of a machine.
    row("sudo", "", "-S", Input),
    row("sudo", "", "--stdin", Input),
    row("su kinit passwd smbpasswd ansible-vault", "", "", Input),
    row("chpasswd", "", "", InputAfterColon),
    row("useradd usermod adduser", "", "-p", Next),
    row("htpasswd", "", "-b", LastOperand),
    row("htdigest mkpasswd", "", "", LastOperand),
    row("dscl", "-passwd", "", LastOperand),
    row("net net.exe", "user", "", Operand(1)),
    row("net net.exe", "use", "", Operand(2)),
    row("cmdkey", "", "/pass:", AnyStart),
    row("wmic", "", "/password:", AnyStart),
    row("schtasks", "", "/rp", Next),
    row("schtasks", "", "/RP", Next),
    // Networks.
    row("nmcli", "", "password", Next),
    row("nmcli", "", "wifi-sec.psk", Next),
    row("nmcli", "", "802-11-wireless-security.psk", Next),
    row("wpa_passphrase", "", "", Operand(1)),
    row("networksetup", "-setairportnetwork", "", Operand(2)),
    row("iwctl", "", "--passphrase", Next),
    // Services.
    row(CONTAINERS, "login", "-p", NextOrGlued),
    row(CONTAINERS, "login", "--password-stdin", Input),
    row("skopeo", "", "--creds", After(':')),
    row("skopeo", "", "--src-creds", After(':')),
    row("skopeo", "", "--dest-creds", After(':')),
    row("oc az", "login", "-p", Next),
    row("gh", "login", "--with-token", Input),
    row("gh", "set", "-b", Next),
    row("gh", "set", "--body", Next),
    row("gh", "set", "", Input),
    row("glab", "login", "-t", Next),
    row("glab", "login", "--stdin", Input),
    row("twine", "", "-p", Next),
    row("cargo", "login", "", Operand(0)),
    row("vault", "login", "", Operand(0)),
    row("vault", "login", "-", Input),
    row("vault", "unseal", "", Operand(0)),
    row("aws", "aws_secret_access_key", "", Operand(0)),
    row("aws", "aws_session_token", "", Operand(0)),
    row("aws", "", "--secret-string", Next),
    row("gcloud", "", "--data-file=-", Input),
    row("az", "secret", "--value", Next),
    row("kubectl oc", "", "--from-literal", After('=')),
    row("npm pnpm yarn", "", "--otp", Next),
    row("heroku", "config:set", "", After('=')),
    row("fly flyctl", "set", "", After('=')),
    row("wrangler", "put", "", Input),
    row("ngrok", "authtoken", "", Operand(0)),
    row("ngrok", "add-authtoken", "", Operand(0)),
    row("tailscale", "", "--authkey", Next),
    row("tailscale", "", "--auth-key", Next),
    row("op", "signin", "", Input),
    row("bw", "unlock", "", Operand(0)),
    row("bw", "login", "", Operand(1)),
    row("swaks", "", "-ap", Next),
    row("sendemail", "", "-xp", Next),
    row("imapsync", "", "--password1", Next),
    row("imapsync", "", "--password2", Next),
    row("wp", "", "--user_pass", Next),
    row("travis", "encrypt", "", After('=')),
    row("doctl", "", "-t", Next),
];

/// Programs that print their operands, or what stands in a here-document.
pub(super) const PRINTERS: &[&str] = &["echo", "printf", "cat", "print", "Write-Output"];

/// What is said of an option in a sentence, and is not a password.
pub(super) const OPTION_NOUNS: &[&str] = &[
    "flag",
    "flags",
    "option",
    "options",
    "switch",
    "argument",
    "arguments",
    "parameter",
    "parameters",
    "and",
    "or",
    "is",
    "for",
    "to",
    "in",
    "with",
    "the",
    "when",
    "if",
    "as",
    "which",
    "that",
    "then",
    "instead",
    "from",
    "on",
    "so",
    "because",
    "but",
    "not",
    "by",
    "at",
    "via",
    "unless",
    "only",
    "here",
    "there",
    "value",
    "field",
    "file",
    "variable",
    "environment",
    "must",
    "should",
    "can",
    "will",
    "does",
    "takes",
    "means",
    "first",
    "before",
    "once",
    "again",
    "now",
    "it",
    "this",
    "your",
    "my",
    "please",
    "after",
    "locally",
    "manually",
    "successfully",
    "command",
    "works",
    "failed",
    "fails",
    "needs",
    "wants",
    "expects",
    "asks",
    "uses",
    "instead,",
    "a",
    "an",
];
