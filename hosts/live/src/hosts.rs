//! Two hosts: network namespaces with a TUN device each, and the commands that run in them.
//!
//! A keeper process makes a user namespace in which the caller's user is mapped to itself, two
//! network namespaces that belong to it, and a process namespace whose first process runs the commands.
//! So the commands have the rights of network administrators over their own hosts and none over
//! anything else. Each process dies with the one that made it, and the namespaces with the last.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::LiveError;
use crate::sys::{self, checked, owned};

/// The addresses of the sending and the receiving host, of a block kept for documentation.
const ADDRESSES: [[u8; 4]; 2] = [[192, 0, 2, 1], [192, 0, 2, 2]];
const DEVICE: &CStr = c"sat0";
/// Packets that a device holds for us while we are busy.
const DEVICE_QUEUE: u32 = 10_000;
/// How long a server may take until it listens, ns.
const PATIENCE: u64 = 5_000_000_000;
/// What ends a run.
const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// What runs on the two hosts.
#[derive(Clone, Debug)]
pub struct Commands {
    /// Runs on the sending host; the run ends with it. `{peer}` in an argument is the receiving
    /// host's address.
    pub command: Vec<String>,
    /// Runs on the receiving host, and is there before the first; `{peer}` is the sending host.
    pub serve: Option<Vec<String>>,
    /// Who runs them.
    pub user: u32,
    /// That user's group.
    pub group: u32,
    /// The congestion control that connections have unless they choose; `None`: the system's.
    pub congestion: Option<String>,
}

/// The two hosts, seen from outside.
pub(crate) struct Hosts {
    /// What the sending and the receiving host send and receive.
    pub(crate) tuns: [OwnedFd; 2],
    control: OwnedFd,
    keeper: libc::pid_t,
}

/// What stands in the way of live links on this machine, a line each; empty: nothing.
pub fn hindrances() -> Vec<String> {
    // SAFETY: neither call takes an argument, touches memory of ours, or can fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let command = vec!["/bin/true".to_owned()];
    let commands = Commands { command, serve: None, user, group, congestion: None };
    match Hosts::make(&commands) {
        Ok(_) => Vec::new(),
        Err(error) => vec![error.to_string()],
    }
}

impl Hosts {
    /// Makes the hosts; the commands start with [`Hosts::start`].
    pub(crate) fn make(commands: &Commands) -> Result<Self, LiveError> {
        let (ours, theirs) = pair()?;
        // SAFETY: the child calls the kernel, the C library and the allocator. glibc's can be used
        // after a fork. mimalloc, which the Python extension has, takes a lock only where it gets
        // memory from the kernel or a thread comes or goes; CLIFT's threads do neither now, since
        // they have no work while a live run is set up.
        let keeper = checked("a process", unsafe { libc::fork() })?;
        if keeper == 0 {
            drop(ours);
            let kept = keep(&theirs, commands);
            if let Err(error) = kept {
                let _ = send(&theirs, format!("e{error}").as_bytes(), &[]);
            }
            // SAFETY: the child must not run what the parent registered for its end.
            unsafe { libc::_exit(0) };
        }
        drop(theirs);
        let mut hosts = Self { tuns: [dup(&ours)?, dup(&ours)?], control: ours, keeper };
        hosts.told(b'u')?;
        map_user(keeper, commands)?;
        hosts.tell(b"m")?;
        let tuns = hosts.told(b't')?;
        hosts.tuns = tuns.try_into().map_err(|_| fault("two devices", "they did not come"))?;
        Ok(hosts)
    }

    /// Starts the commands.
    pub(crate) fn start(&self) -> Result<(), LiveError> {
        self.tell(b"g")
    }

    /// Can be read once the first command is done.
    pub(crate) fn fd(&self) -> RawFd {
        self.control.as_raw_fd()
    }

    /// The code with which the first command ended.
    pub(crate) fn code(&self) -> Result<i32, LiveError> {
        let (message, _) = receive(&self.control)?;
        match message.split_first() {
            Some((b'x', code)) => Ok(String::from_utf8_lossy(code).parse().unwrap_or(1)),
            Some((b'e', error)) => Err(LiveError::Hosts(String::from_utf8_lossy(error).into())),
            _ => Err(fault("the hosts", "they are gone")),
        }
    }

    /// Sends the commands a signal.
    pub(crate) fn signal(&self, signal: libc::c_int) -> Result<(), LiveError> {
        self.tell(format!("s{signal}").as_bytes())
    }

    fn tell(&self, message: &[u8]) -> Result<(), LiveError> {
        send(&self.control, message, &[])
    }

    /// Waits for a message of this kind; the descriptors that came with it.
    fn told(&self, kind: u8) -> Result<Vec<OwnedFd>, LiveError> {
        let (message, fds) = receive(&self.control)?;
        match message.split_first() {
            Some((first, _)) if *first == kind => Ok(fds),
            Some((b'e', error)) => Err(LiveError::Hosts(String::from_utf8_lossy(error).into())),
            _ => Err(fault("the hosts", "the process that keeps them died")),
        }
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        // SAFETY: it is our child, which nobody else waits for.
        unsafe {
            libc::kill(self.keeper, libc::SIGKILL);
            libc::waitpid(self.keeper, std::ptr::null_mut(), 0);
        }
    }
}

fn fault(what: &str, why: &str) -> LiveError {
    LiveError::Kernel { what: what.to_owned(), source: io::Error::other(why.to_owned()) }
}

fn dup(fd: &OwnedFd) -> Result<OwnedFd, LiveError> {
    fd.try_clone().map_err(|source| LiveError::Kernel { what: "a descriptor".to_owned(), source })
}

/// Two ends of a channel that keeps messages apart.
fn pair() -> Result<(OwnedFd, OwnedFd), LiveError> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: it writes two descriptors to a place of ours.
    checked("a channel", unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) })?;
    // SAFETY: both were just opened.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// The mapping of the caller's user and group to themselves, which only another process may write.
fn map_user(keeper: libc::pid_t, commands: &Commands) -> Result<(), LiveError> {
    let write = |file: &str, text: String| {
        let path = format!("/proc/{keeper}/{file}");
        fs::write(&path, text).map_err(|source| LiveError::Kernel { what: path, source })
    };
    let Commands { user, group, .. } = commands;
    // SAFETY: no memory is involved.
    if unsafe { libc::geteuid() } != 0 {
        write("setgroups", "deny".to_owned())?;
    }
    write("uid_map", format!("{user} {user} 1"))?;
    write("gid_map", format!("{group} {group} 1"))
}

// --- what follows runs in the keeper ---

fn keep(control: &OwnedFd, commands: &Commands) -> Result<(), LiveError> {
    // SAFETY: calls of the kernel without memory.
    unsafe {
        checked("a user namespace", libc::unshare(libc::CLONE_NEWUSER))?;
        // Ctrl-C at a terminal reaches everybody: the commands answer it, we wait for them.
        for signal in SIGNALS {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    die_with_parent();
    send(control, b"u", &[])?;
    receive(control)?;
    let sender = host(0, commands)?;
    let receiver = host(1, commands)?;
    send(control, b"t", &[sender.0.as_raw_fd(), receiver.0.as_raw_fd()])?;
    let (_, sender) = sender;
    let (_, receiver) = receiver;
    // SAFETY: as in `Hosts::make`.
    unsafe {
        let kinds = libc::CLONE_NEWPID | libc::CLONE_NEWNS;
        checked("a process namespace", libc::unshare(kinds))?;
        let first = checked("a process", libc::fork())?;
        if first == 0 {
            let ran = run(control, [&sender, &receiver], commands);
            if let Err(error) = ran {
                let _ = send(control, format!("e{error}").as_bytes(), &[]);
            }
            libc::_exit(0);
        }
        libc::waitpid(first, std::ptr::null_mut(), 0);
    }
    Ok(())
}

fn die_with_parent() {
    // SAFETY: no memory is involved.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// A host: its device, and its network namespace.
fn host(number: usize, commands: &Commands) -> Result<(OwnedFd, OwnedFd), LiveError> {
    // SAFETY: calls of the kernel that read and write places of ours.
    unsafe {
        checked("a network namespace", libc::unshare(libc::CLONE_NEWNET))?;
        let tun = sys::open(c"/dev/net/tun", true)?;
        let mut request = named();
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        checked("a TUN device", libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF, &raw mut request))?;
        // Before the device is up: a host with IPv6 would send its own packets.
        settings(commands)?;
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
        let socket = owned("a socket", libc::socket(libc::AF_INET, kind, 0))?;
        let set = |what: &str, call: libc::Ioctl, request: &libc::ifreq| {
            checked(what, libc::ioctl(socket.as_raw_fd(), call, std::ptr::from_ref(request)))
        };
        let mut own = named();
        own.ifr_ifru.ifru_addr = address(ADDRESSES[number]);
        set("an address", libc::SIOCSIFADDR, &own)?;
        own.ifr_ifru.ifru_addr = address([255, 255, 255, 0]);
        set("an address", libc::SIOCSIFNETMASK, &own)?;
        checked("a device", libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFINDEX, &raw mut own))?;
        let index = own.ifr_ifru.ifru_ifindex;
        lengthen_queue(index)?;
        own.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        set("a device", libc::SIOCSIFFLAGS, &own)?;
        let mut loopback: libc::ifreq = zeroed();
        loopback.ifr_name[..2].copy_from_slice(&[b'l' as libc::c_char, b'o' as libc::c_char]);
        loopback.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        set("the loopback device", libc::SIOCSIFFLAGS, &loopback)?;
        if let Some(name) = &commands.congestion {
            choose_congestion(index, number, name)?;
        }
        Ok((tun, sys::open(c"/proc/self/ns/net", false)?))
    }
}

/// Has a device hold [`DEVICE_QUEUE`] packets for us. The older call for it is for the system's
/// administrator only, not for that of a host.
fn lengthen_queue(index: libc::c_int) -> Result<(), LiveError> {
    const QUEUE_LENGTH: u16 = 13; // IFLA_TXQLEN
    let mut body = vec![0; 4]; // family and type
    body.extend(index.to_ne_bytes());
    body.extend([0; 8]); // flags and their mask
    body.extend(attribute(QUEUE_LENGTH, &DEVICE_QUEUE.to_ne_bytes()));
    ask_kernel("a device's queue", libc::RTM_NEWLINK, 0, &body)
}

/// Gives the connections to the other host a congestion control. The setting for a whole namespace
/// takes only those that the system lets every user have; a route takes each that the kernel has.
fn choose_congestion(index: libc::c_int, number: usize, name: &str) -> Result<(), LiveError> {
    let files = ["available", "allowed"].map(|which| {
        let path = format!("/proc/sys/net/ipv4/tcp_{which}_congestion_control");
        fs::read_to_string(path).unwrap_or_default()
    });
    let mut known = files.iter().flat_map(|file| file.split_whitespace());
    if !known.any(|one| one == name) {
        let known = files[0].trim().replace(' ', ", ");
        return Err(LiveError::Hosts(format!(
            "this kernel has no congestion control {name}; it has {known}"
        )));
    }
    const ALGORITHM: u16 = 16; // RTAX_CC_ALGO
    let (main, of_kernel, link, unicast) = (254, 2, 253, 1);
    let mut body = vec![libc::AF_INET as u8, 24, 0, 0, main, of_kernel, link, unicast, 0, 0, 0, 0];
    body.extend(attribute(libc::RTA_DST, &[ADDRESSES[0][0], ADDRESSES[0][1], ADDRESSES[0][2], 0]));
    body.extend(attribute(libc::RTA_PREFSRC, &ADDRESSES[number]));
    body.extend(attribute(libc::RTA_OIF, &index.to_ne_bytes()));
    let name = [name.as_bytes(), &[0]].concat();
    body.extend(attribute(libc::RTA_METRICS, &attribute(ALGORITHM, &name)));
    let flags = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
    ask_kernel("a congestion control", libc::RTM_NEWROUTE, flags, &body)
}

/// A part of a netlink message, filled up to four bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut attribute = Vec::new();
    attribute.extend((4 + value.len() as u16).to_ne_bytes());
    attribute.extend(kind.to_ne_bytes());
    attribute.extend(value);
    attribute.resize(attribute.len().next_multiple_of(4), 0);
    attribute
}

/// Sends the kernel a netlink message and reads its answer.
fn ask_kernel(what: &str, kind: u16, flags: libc::c_int, body: &[u8]) -> Result<(), LiveError> {
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
    let mut message = Vec::new();
    message.extend((16 + body.len() as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]); // sequence number and sender
    message.extend(body);
    // SAFETY: calls of the kernel that read and write places of ours, of the lengths that are given.
    unsafe {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        let socket = owned("a socket", libc::socket(libc::AF_NETLINK, kind, 0))?;
        let fd = socket.as_raw_fd();
        let sent = libc::send(fd, message.as_ptr().cast(), message.len(), 0);
        checked(what, sent as libc::c_int)?;
        let mut answer = [0u8; 1024];
        let got = libc::recv(fd, answer.as_mut_ptr().cast(), answer.len(), 0);
        checked(what, got as libc::c_int)?;
        // The answer's own header is 16 bytes long; then comes 0, or an error below it.
        match i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]) {
            0 => Ok(()),
            error => {
                let source = io::Error::from_raw_os_error(-error);
                Err(LiveError::Kernel { what: what.to_owned(), source })
            }
        }
    }
}

fn named() -> libc::ifreq {
    // SAFETY: all zeros are a request.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(DEVICE.to_bytes()) {
        *place = *byte as libc::c_char;
    }
    request
}

fn address(bytes: [u8; 4]) -> libc::sockaddr {
    // SAFETY: both are plain bytes of one length.
    unsafe {
        let mut own: libc::sockaddr_in = zeroed();
        own.sin_family = libc::AF_INET as libc::sa_family_t;
        own.sin_addr.s_addr = u32::from_ne_bytes(bytes);
        std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(own)
    }
}

/// What the kernel's own behaviour on a host is; what a kernel does not have is left out.
fn settings(commands: &Commands) -> Result<(), LiveError> {
    let write = |name: &str, value: &str| {
        let path = format!("/proc/sys/net/{name}");
        match fs::write(&path, value) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done
                .map_err(|source| LiveError::Kernel { what: format!("{name} = {value}"), source }),
        }
    };
    let group = commands.group;
    // A connection must not inherit what an earlier one learnt.
    write("ipv4/tcp_no_metrics_save", "1")?;
    write("ipv6/conf/all/disable_ipv6", "1")?;
    // `ping` and low ports for everybody.
    write("ipv4/ping_group_range", &format!("{group} {group}"))?;
    write("ipv4/ip_unprivileged_port_start", "0")?;
    // Windows of 500 Mbit/s over 500 ms, and as much again.
    for buffers in ["ipv4/tcp_rmem", "ipv4/tcp_wmem"] {
        let now = fs::read_to_string(format!("/proc/sys/net/{buffers}")).unwrap_or_default();
        if let [least, usual, most] = now.split_whitespace().collect::<Vec<_>>()[..] {
            let most = most.parse().unwrap_or(0).max(64 << 20);
            write(buffers, &format!("{least} {usual} {most}"))?;
        }
    }
    Ok(())
}

// --- what follows runs in the first process of the process namespace ---

fn run(control: &OwnedFd, hosts: [&OwnedFd; 2], commands: &Commands) -> Result<(), LiveError> {
    die_with_parent();
    for signal in SIGNALS {
        // The kernel spares the first process; those that it starts must not ignore them.
        // SAFETY: no memory is involved.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: calls of the kernel with text that ends with a zero byte.
    unsafe {
        let (private, nothing) = (libc::MS_REC | libc::MS_PRIVATE, std::ptr::null());
        libc::mount(nothing, c"/".as_ptr(), nothing, private, nothing.cast());
        // Where that is not allowed, commands see the process numbers of outside.
        let kind = c"proc".as_ptr();
        libc::mount(kind, c"/proc".as_ptr(), kind, 0, nothing.cast());
    }
    let (message, _) = receive(control)?;
    if message != b"g" {
        return Ok(());
    }
    if let Some(serve) = &commands.serve {
        let server = spawn(serve, 1, hosts[1], commands)?;
        if let Some(signal) = await_server(control, hosts[1], server)? {
            return send(control, format!("x{}", 128 + signal).as_bytes(), &[]);
        }
    }
    let command = spawn(&commands.command, 0, hosts[0], commands)?;
    loop {
        let mut status = 0;
        // SAFETY: it writes to a place of ours.
        let ended = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        if ended == command {
            return send(control, format!("x{}", code(status)).as_bytes(), &[]);
        }
        if ended <= 0
            && let Some(signal) = signal_told(control)?
        {
            // As from a terminal: every process hears it, but for this one.
            // SAFETY: no memory is involved.
            unsafe { libc::kill(-1, signal) };
        }
    }
}

/// Waits a little for a signal that is to be passed on.
fn signal_told(control: &OwnedFd) -> Result<Option<libc::c_int>, LiveError> {
    let mut asked = libc::pollfd { fd: control.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one place of ours.
    if unsafe { libc::poll(&raw mut asked, 1, 2) } != 1 {
        return Ok(None);
    }
    let (message, _) = receive(control)?;
    let Some((b's', number)) = message.split_first() else {
        // Nobody is left to tell; the process namespace ends with this process.
        return Err(fault("the emulator", "it is gone"));
    };
    Ok(String::from_utf8_lossy(number).parse().ok())
}

fn code(status: libc::c_int) -> i32 {
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
}

/// Starts a command on a host.
fn spawn(
    command: &[String],
    number: usize,
    host: &OwnedFd,
    commands: &Commands,
) -> Result<libc::pid_t, LiveError> {
    let peer = ADDRESSES[1 - number].map(|byte| byte.to_string()).join(".");
    let words: Vec<CString> = command
        .iter()
        .map(|word| CString::new(word.replace("{peer}", &peer)).unwrap_or_default())
        .collect();
    // SAFETY: this process has one thread, so that its child may do anything; the texts that the
    // kernel reads end with a zero byte.
    unsafe {
        let child = checked("a process", libc::fork())?;
        if child != 0 {
            return Ok(child);
        }
        let entered = checked("the host", libc::setns(host.as_raw_fd(), libc::CLONE_NEWNET))
            .and_then(|_| become_user(commands));
        if let Err(error) = entered {
            eprintln!("error: {error}");
            libc::_exit(126);
        }
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut list: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
        list.push(std::ptr::null());
        libc::execvp(list[0], list.as_ptr());
        eprintln!("error: {}: {}", command[0], io::Error::last_os_error());
        libc::_exit(127)
    }
}

/// The user, without groups, and with the rights over the host's network only.
fn become_user(commands: &Commands) -> Result<(), LiveError> {
    let Commands { user, group, .. } = *commands;
    // SAFETY: calls of the kernel that read places of ours.
    unsafe {
        // Not allowed where the caller is not root; then it keeps its own groups.
        libc::setgroups(0, std::ptr::null());
        checked("the group", libc::setresgid(group, group, group))?;
        libc::prctl(libc::PR_SET_KEEPCAPS, 1);
        checked("the user", libc::setresuid(user, user, user))?;
        if user == 0 {
            return Ok(());
        }
        const VERSION_3: u32 = 0x2008_0522;
        const KEPT: [u32; 3] = [10, 12, 13]; // low ports, administration, raw sockets
        let header = [VERSION_3, 0u32];
        let kept = KEPT.iter().fold(0u32, |all, number| all | 1 << number);
        let data = [kept, kept, kept, 0, 0, 0];
        let set = libc::syscall(libc::SYS_capset, header.as_ptr(), data.as_ptr());
        checked("capabilities", set as libc::c_int)?;
        for number in KEPT {
            let raise = libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong;
            libc::prctl(libc::PR_CAP_AMBIENT, raise, libc::c_ulong::from(number), 0, 0);
        }
        Ok(())
    }
}

/// Waits until the server has a socket that listens or is bound, is gone, or patience ends; the signal
/// that ended the run meanwhile.
fn await_server(
    control: &OwnedFd,
    host: &OwnedFd,
    server: libc::pid_t,
) -> Result<Option<libc::c_int>, LiveError> {
    // SAFETY: no memory is involved.
    checked("the host", unsafe { libc::setns(host.as_raw_fd(), libc::CLONE_NEWNET) })?;
    let began = sys::monotonic();
    while sys::monotonic() - began < PATIENCE && !is_bound() {
        // A server that ended stays to be waited for.
        // SAFETY: it writes to a place of ours.
        let ended = unsafe {
            let mut ended: libc::siginfo_t = zeroed();
            let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            libc::waitid(libc::P_PID, server as libc::id_t, &raw mut ended, flags);
            ended.si_pid() == server
        };
        if ended {
            break;
        }
        if let Some(signal) = signal_told(control)? {
            return Ok(Some(signal));
        }
    }
    Ok(None)
}

/// Whether a socket of this host listens or is bound.
fn is_bound() -> bool {
    ["tcp", "tcp6", "udp", "udp6"].iter().any(|protocol| {
        let table = fs::read_to_string(format!("/proc/thread-self/net/{protocol}"));
        let waits = if protocol.starts_with("tcp") { "0A" } else { "07" };
        let mut lines = table.iter().flat_map(|table| table.lines().skip(1));
        lines.any(|line| line.split_whitespace().nth(3) == Some(waits))
    })
}

// --- messages ---

fn send(channel: &OwnedFd, message: &[u8], fds: &[RawFd]) -> Result<(), LiveError> {
    // SAFETY: all that the kernel reads are places of ours, of the lengths that are given.
    unsafe {
        let mut body =
            libc::iovec { iov_base: message.as_ptr().cast_mut().cast(), iov_len: message.len() };
        let mut header: libc::msghdr = zeroed();
        header.msg_iov = &raw mut body;
        header.msg_iovlen = 1;
        let mut space = [0u64; 8];
        if !fds.is_empty() {
            let bytes = size_of_val(fds) as u32;
            header.msg_control = space.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(bytes) as usize;
            let part = libc::CMSG_FIRSTHDR(&raw const header);
            (*part).cmsg_level = libc::SOL_SOCKET;
            (*part).cmsg_type = libc::SCM_RIGHTS;
            (*part).cmsg_len = libc::CMSG_LEN(bytes) as usize;
            std::ptr::copy_nonoverlapping(fds.as_ptr(), libc::CMSG_DATA(part).cast(), fds.len());
        }
        let flags = libc::MSG_NOSIGNAL;
        let sent = libc::sendmsg(channel.as_raw_fd(), &raw const header, flags);
        checked("a message", sent as libc::c_int).map(|_| ())
    }
}

/// The next message and what descriptors came with it; empty if the other end is closed.
fn receive(channel: &OwnedFd) -> Result<(Vec<u8>, Vec<OwnedFd>), LiveError> {
    // SAFETY: all that the kernel writes are places of ours, of the lengths that are given.
    unsafe {
        let mut buffer = vec![0u8; 4096];
        let mut body = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let mut space = [0u64; 8];
        let mut header: libc::msghdr = zeroed();
        header.msg_iov = &raw mut body;
        header.msg_iovlen = 1;
        header.msg_control = space.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&space);
        let count = loop {
            let fd = channel.as_raw_fd();
            let count = libc::recvmsg(fd, &raw mut header, libc::MSG_CMSG_CLOEXEC);
            if count != -1 || io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
                break count;
            }
        };
        checked("a message", count as libc::c_int)?;
        buffer.truncate(count as usize);
        let mut fds = Vec::new();
        let part = libc::CMSG_FIRSTHDR(&raw const header);
        if !part.is_null() && (*part).cmsg_type == libc::SCM_RIGHTS {
            let bytes = (*part).cmsg_len - libc::CMSG_LEN(0) as usize;
            let list = libc::CMSG_DATA(part).cast::<RawFd>();
            for index in 0..bytes / size_of::<RawFd>() {
                fds.push(OwnedFd::from_raw_fd(list.add(index).read_unaligned()));
            }
        }
        Ok((buffer, fds))
    }
}
