//! An endpoint of a TCP connection of any profile, as the engine drives it.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::config::{EcnMode, LinuxOptions, Profile, TcpConfig};
use super::congestion::Subflow;
use super::half::{Absent, Half, Receiver, Sender};
use super::linux::{LinuxReceiver, LinuxSender};
use super::papers::{NoSackSender, PapersReceiver, PapersSender};
use super::split::{ProxyConfig, TellWindow, Windowed};
use crate::config::{Fault, delegate};
use crate::transport::train::Train;
use crate::transport::{
    Chunk, Contents, Endpoint, EndpointChange, FlowControl, Limit, Outbox, Packet, Protocol,
    Purpose, Received, Report, Segment, Streams, Window,
};
use crate::units::{Bytes, Instant};

impl Protocol for TcpConfig {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn check(&self) -> Result<(), Fault> {
        Self::check(self)
    }

    fn packet(&self) -> Bytes {
        self.packet
    }

    fn payload(&self) -> Bytes {
        self.mss()
    }

    fn flow_control(&self) -> FlowControl {
        match self.cwnd_max {
            None => FlowControl::Acknowledgements,
            Some(_) => FlowControl::Window,
        }
    }

    /// Over a stretch that a proxy begins, its own settings count; the receiver announces its own
    /// window.
    fn connect(
        &self,
        purpose: Purpose,
        proxies: [Option<&ProxyConfig>; 2],
        rng: ChaCha8Rng,
    ) -> Option<[Box<dyn Endpoint>; 2]> {
        let config = proxies[0].map_or_else(|| self.clone(), |proxy| proxy.sending(self));
        let facing = |proxy: Option<&ProxyConfig>| TcpConfig {
            receive_window: proxy.map(ProxyConfig::announced).or(self.receive_window),
            ..config.clone()
        };
        let (down, up) = (facing(proxies[1]), facing(proxies[0]));
        let ends = Ends { own: self, proxies, marks: config.ecn_mode() != EcnMode::Off };
        let papers = config.profile() == Profile::Papers;
        Some(match purpose {
            Purpose::Dialogue if papers => return None,
            Purpose::Dialogue => {
                // The client's handshake serves both directions.
                let options = LinuxOptions { handshake: false, ..down.options() };
                let answers = TcpConfig { linux: Some(options), ..down.clone() };
                let server = (LinuxSender::new(&answers, rng.clone()), LinuxReceiver::new(&up));
                let client = (LinuxSender::new(&up, rng), LinuxReceiver::new(&down));
                ends.join(server, client)
            }
            _ if papers && !config.sack => {
                ends.one_way(NoSackSender::new(&down), PapersReceiver::new(&down))
            }
            _ if papers => ends.one_way(PapersSender::new(&down, rng), PapersReceiver::new(&down)),
            _ => ends.one_way(LinuxSender::new(&down, rng), LinuxReceiver::new(&down)),
        })
    }

    fn check_proxy(&self, proxy: &ProxyConfig, converses: bool) -> Result<(), Fault> {
        proxy.check(self)?;
        if converses { proxy.check_dialogue(self) } else { Ok(()) }
    }

    fn tcp(&self) -> Option<&TcpConfig> {
        Some(self)
    }

    fn splits(&self) -> bool {
        true
    }

    /// The agents of profile `papers` send data in one direction only.
    fn dialogues(&self) -> Option<Streams> {
        (self.profile() == Profile::Linux).then_some(Streams::One)
    }
}

/// Bytes of a data sequence signal with the acknowledgement of the data (RFC 8684 section 3.3), as
/// Linux sends it: eight bytes of sequence number, four of acknowledgement.
const SIGNAL: u32 = 24;

impl TcpConfig {
    /// The configuration of a subflow of a connection over `count` paths: without the data sequence
    /// signal, which takes its place in each packet of data. A connection over one path is plain TCP.
    pub(super) fn subflow(&self, count: usize) -> Self {
        let signal = if count > 1 { SIGNAL } else { 0 };
        Self { packet: Bytes(self.packet.0.saturating_sub(signal)), ..self.clone() }
    }

    /// The two endpoints of each subflow of a connection over `count` paths. The receive window is
    /// that of the whole connection; a subflow announces no limit.
    pub(super) fn subflows(
        &self,
        count: usize,
        mut rng: ChaCha8Rng,
    ) -> Vec<[Box<dyn Endpoint>; 2]> {
        let signal = self.packet.0 - self.subflow(count).packet.0;
        let config = Self { receive_window: None, ..self.subflow(count) };
        let ends =
            Ends { own: &config, proxies: [None; 2], marks: config.ecn_mode() != EcnMode::Off };
        let subflow = |subflow: Subflow| {
            let mut sender = LinuxSender::new(&config, rng.clone());
            // The first draws as a connection of one path does.
            rng = ChaCha8Rng::from_rng(&mut rng);
            sender.couple(subflow, signal);
            ends.one_way(sender, LinuxReceiver::new(&config))
        };
        Subflow::all(count).into_iter().map(subflow).collect()
    }
}

/// The ends of a connection.
struct Ends<'a> {
    own: &'a TcpConfig,
    proxies: [Option<&'a ProxyConfig>; 2],
    marks: bool,
}

impl Ends<'_> {
    fn one_way(&self, sender: impl Sender, receiver: impl Receiver) -> [Box<dyn Endpoint>; 2] {
        self.join((sender, Absent::default()), (Absent::default(), receiver))
    }

    fn join<S: Sender, R: Receiver>(
        &self,
        server: (S, impl Receiver),
        client: (impl Sender, R),
    ) -> [Box<dyn Endpoint>; 2] {
        let [at_server, at_client] = self.proxies;
        let server = TcpEndpoint::new(server, self.marks);
        let client = TcpEndpoint::new(client, self.marks);
        if self.proxies == [None; 2] {
            return [Box::new(server), Box::new(client)];
        }
        [
            Box::new(Windowed::new(server, self.own, at_server, at_client)),
            Box::new(Windowed::new(client, self.own, at_client, at_server)),
        ]
    }
}

/// An endpoint: a half that sends and one that receives. Acknowledgements use separate packets
/// ([`Packet::answers`]): they are not piggybacked on data of the other direction.
#[derive(Debug)]
pub(super) struct TcpEndpoint<S, R> {
    pub(super) sender: S,
    pub(super) receiver: R,
    /// True if explicit congestion notification is in use.
    marks: bool,
    /// When this end answered the SYN; `None` once the client's next packet has arrived.
    answered: Option<Answered>,
    read: u64,
}

/// The server's state during the handshake.
#[derive(Clone, Copy, Debug)]
struct Answered {
    at: Instant,
    /// How often.
    times: u32,
}

impl<S: Sender, R: Receiver> TcpEndpoint<S, R> {
    fn new((sender, receiver): (S, R), marks: bool) -> Self {
        Self { sender, receiver, marks, answered: None, read: 0 }
    }

    /// Handles the server's SYN-ACK, or an acknowledgement.
    #[inline(always)] // called for every packet: a call costs a seventh of what it does
    fn handle_answer(&mut self, now: Instant, segment: &Segment) {
        if R::ABSENT {
            return self.sender.handle_segment(now, segment);
        }
        let was_open = self.sender.is_established();
        self.sender.handle_segment(now, segment);
        if !was_open && self.sender.is_established() {
            self.receiver.accept(now, self.sender.window().srtt);
        }
    }

    /// The client's SYN and the packet after it open the direction of the server's data.
    fn follow_handshake(&mut self, now: Instant, segment: &Segment) {
        if segment.syn {
            let times = self.answered.map_or(1, |answered| answered.times + 1);
            self.answered = Some(Answered { at: now, times });
        } else if let Some(Answered { at, times }) = self.answered.take() {
            self.sender.accept(now, now.saturating_since(at), times);
        }
    }

    fn refused(&self) -> u64 {
        let counters = self.receiver.counters();
        counters.duplicate_segments + counters.stale_segments
    }
}

impl<S: Sender, R: Receiver> Endpoint for TcpEndpoint<S, R> {
    fn is_open(&self) -> bool {
        self.sender.is_established()
    }

    fn write(&mut self, _: u32, bytes: u64, _: bool) {
        self.sender.supply(bytes);
    }

    fn read(&mut self) -> Option<Chunk> {
        let received = self.receiver.received();
        let bytes = received - std::mem::replace(&mut self.read, received);
        (bytes > 0).then_some(Chunk { stream: 0, bytes })
    }

    #[inline(always)] // as `handle_answer`
    fn handle(&mut self, now: Instant, packet: &Packet, _: Option<Contents>) -> Received {
        let segment = &packet.segment;
        if R::ABSENT || (!S::ABSENT && packet.answers) {
            self.handle_answer(now, segment);
            return Received::Ack(segment.ack);
        }
        if !S::ABSENT {
            self.follow_handshake(now, segment);
        }
        let before = self.refused();
        self.receiver.handle_segment(now, segment);
        let in_vain = self.refused() > before;
        Received::Data { in_vain, delivered: self.receiver.received() }
    }

    /// Acknowledgements first. A delayed acknowledgement leaves with data.
    #[inline(always)] // as `handle_answer`
    fn transmit(&mut self, now: Instant, outbox: &mut Outbox) -> Option<Instant> {
        if R::ABSENT {
            return transmit(&mut self.sender, now, false, outbox);
        }
        let mut acknowledgement = transmit(&mut self.receiver, now, true, outbox);
        if S::ABSENT {
            return acknowledgement;
        }
        let first = outbox.sent().len();
        let retransmission = transmit(&mut self.sender, now, false, outbox);
        if outbox.sent()[first..].iter().any(|&id| outbox[id].len > 0) {
            self.receiver.on_reply(now);
            acknowledgement = transmit(&mut self.receiver, now, true, outbox);
        }
        [retransmission, acknowledgement].into_iter().flatten().min()
    }

    fn answer_all(&mut self, train: &mut Train, outbox: &mut Outbox) {
        let mut number = 0;
        loop {
            if S::ABSENT {
                number = self.receiver.answer_expected(number, train, outbox);
            } else if R::ABSENT {
                number = self.sender.answer_expected(number, train, outbox);
            }
            if number >= train.arrivals.len() {
                return;
            }
            self.answer_one(number, train, outbox);
            number += 1;
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        handle_timeout(&mut self.receiver, now);
        handle_timeout(&mut self.sender, now);
    }

    fn delivered(&self) -> u64 {
        self.receiver.received()
    }

    fn acknowledged(&self) -> Option<u64> {
        (!S::ABSENT).then(|| self.sender.acknowledged())
    }

    fn report(&self) -> Report {
        let (sender, receiver) = (*self.sender.counters(), *self.receiver.counters());
        Report { sender, receiver, ecn: self.marks, broken_off: None }
    }

    fn window(&self) -> Option<Window> {
        (!S::ABSENT).then(|| self.sender.window())
    }

    delegate! { self.sender =>
        fn open(&mut self);
        fn close(&mut self);
        fn unsent(&self) -> u64;
        fn expect(&mut self, more: bool);
        fn limit(&self) -> Limit;
        fn change(&mut self, now: Instant, change: &EndpointChange) -> bool;
    }
}

impl<S: Sender, R: Receiver> TellWindow for TcpEndpoint<S, R> {
    fn permit(&mut self, edge: u64, tell: bool) {
        self.receiver.permit(edge, tell);
    }
}

#[inline(always)]
fn transmit(
    half: &mut impl Half,
    now: Instant,
    answers: bool,
    outbox: &mut Outbox,
) -> Option<Instant> {
    loop {
        let packet = outbox.draft();
        if !half.transmit_into(now, &mut packet.segment) {
            return half.poll_timeout();
        }
        packet.show_segment(answers);
        outbox.send();
    }
}

/// Ignores a timeout that has been moved since the host scheduled it.
fn handle_timeout(half: &mut impl Half, now: Instant) {
    if half.poll_timeout().is_some_and(|at| at <= now) {
        half.handle_timeout(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};
    use crate::transport::End;
    use crate::transport::tcp::CongestionAlgorithm;
    use crate::units::Duration;

    /// Runs over a loss-free path of 50 ms each way until no packet is in flight.
    fn run(ends: &mut [Box<dyn Endpoint>; 2], from: Instant) -> (Instant, Vec<(End, bool, u32)>) {
        let mut outbox = Outbox::default();
        let mut way: std::collections::VecDeque<(Instant, End, Packet)> = Default::default();
        let (mut now, mut sent) = (from, Vec::new());
        loop {
            for end in [End::Sender, End::Receiver] {
                let _ = ends[end as usize].transmit(now, &mut outbox);
                for &id in outbox.sent() {
                    let packet = outbox[id];
                    sent.push((end, packet.answers, packet.len));
                    way.push_back((now + Duration::from_millis(50), end.other(), packet));
                }
                outbox.sent().to_vec().iter().for_each(|&id| outbox.free(id));
                outbox.forget_sent(0);
            }
            let Some((at, end, packet)) = way.pop_front() else { return (now, sent) };
            now = at;
            ends[end as usize].handle(now, &packet, None);
        }
    }

    #[test]
    fn one_handshake_opens_both_directions() {
        let config = TcpConfig::linux(CongestionAlgorithm::CUBIC);
        let rng = Seed(1).rng(Stream::Flow(0));
        let mut ends = config.connect(Purpose::Dialogue, [None; 2], rng).unwrap();
        ends[1].open();
        let (now, sent) = run(&mut ends, Instant::ZERO);
        // SYN, its answer, the acknowledgement of that.
        let control =
            [(End::Receiver, false, 0), (End::Sender, true, 0), (End::Receiver, false, 0)];
        assert_eq!(sent, control);
        assert_eq!(now, Instant::ZERO + Duration::from_millis(150));
        assert!(ends[0].is_open() && ends[1].is_open());
        // Both ends have timed the round trip.
        let rtt = Some(Duration::from_millis(100));
        assert!(ends.iter().all(|end| end.window().unwrap().srtt == rtt));

        ends[1].write(0, 350, true);
        let (now, sent) = run(&mut ends, now);
        assert_eq!(sent[0], (End::Receiver, false, 350));
        assert_eq!(ends[0].read(), Some(Chunk { stream: 0, bytes: 350 }));
        assert_eq!(ends[0].read(), None);
        ends[0].write(0, 3000, true);
        assert_eq!(ends[0].unsent(), 3000);
        let (_, sent) = run(&mut ends, now);
        let lens: Vec<_> = sent.iter().filter(|it| it.0 == End::Sender).map(|it| it.2).collect();
        assert_eq!(lens, [1448, 1448, 104]);
        assert_eq!(ends[1].read(), Some(Chunk { stream: 0, bytes: 3000 }));
        assert_eq!(ends[1].delivered(), 3000);
    }
}
