//! Error messages for invalid files.

use super::*;
use crate::config::Registry;
use crate::trace::InMemory;

#[test]
fn every_error_names_line_key_and_cure() {
    let table = [
        (
            "[link]\nrat = \"5 ms\"",
            "geo.toml line 2: link.rat: unknown key, one of rtt, feedback, overlap, packing, extra_lldu, lldu_header, live, queue, aqm, start, wrap, packet_header, reorder",
        ),
        (
            "[application]\ntype = \"file\"",
            "geo.toml line 1: application: missing key `size`: give a size with its unit (B, kB, KiB, MB, MiB, GB, GiB; 1 kB = 1000 B), e.g. \"100 kB\"",
        ),
        (
            "[[flow]]\narrivals = { type = \"poisson\" }",
            "geo.toml line 2: flow.0.arrivals: missing key `gap`: give a time with its unit",
        ),
        (
            "[network.links.up]\nfrom = \"a\"\nto = \"b\"\nleg = { rate = \"1 Mbit/s\" }\nreturn = { carrier = { } }",
            "geo.toml line 5: network.links.up.return.carrier: missing key `rate`: give a rate with its unit",
        ),
        (
            "[link]\nqueue = \"0 packets\"",
            "geo.toml line 2: link.queue: a queue of 0 lets nothing through, because a packet waits for its slot",
        ),
        ("nme = 'x'", "geo.toml line 1: nme: unknown key, one of name, description, "),
        ("[lnik]\nrtt = \"5 ms\"", "(did you mean link?)"),
        (
            "[link]\nrtt = 500",
            "geo.toml line 2: link.rtt: `500` has no unit; write a time as e.g. \"500 ms\"",
        ),
        (
            "[link]\nrtt = \"5 lightyears\"",
            "geo.toml line 2: link.rtt: unknown unit `lightyears`; a time is in ns, us, ms, s, min, h",
        ),
        (
            "[link]\nrtt = true",
            "geo.toml line 2: link.rtt: boolean `true` is not valid here; give a time with its unit",
        ),
        (
            "link = 3",
            "geo.toml line 1: link: integer `3` is not valid here; give a section with keys",
        ),
        (
            "runs = \"3\"",
            "geo.toml line 1: runs: string \"3\" is not valid here; give a whole number, 0 or more",
        ),
        (
            "runs = -3",
            "geo.toml line 1: runs: integer `-3` is not valid here; give a whole number, 0 or more",
        ),
        (
            "\n\nruns = 0\n[channel]\nmodel='bernoulli'\nerasures = 0.1",
            "geo.toml line 3: runs: 0 runs; give 1 to 1000000",
        ),
        ("duration = \"0 s\"", "geo.toml line 1: duration: is zero"),
        (
            "[ntn]\nprocesses = 0",
            "geo.toml line 2: ntn.processes: integer `0` is not valid here; give a whole number, 1 or more",
        ),
        (
            "link.send_buffer = -1",
            "geo.toml line 1: link.send_buffer: integer `-1` is not valid here; give a whole number, 1 or",
        ),
        (
            "ntn.window = 99999999999999999999",
            "geo.toml line 1: ntn.window: integer `99999999999999999999` is not valid here; give a whole number up to 4294967295",
        ),
        (
            "runs = 4294967296",
            "geo.toml line 1: runs: integer `4294967296` is not valid here; give a whole number up to 4294967295",
        ),
        (
            "seed = 99999999999999999999999999999999999999999",
            "geo.toml line 1: seed: the number is too large; give a smaller one",
        ),
        (
            "link.feedback = \"1 ms\"\n[channel]\nmodel = \"bernoulli\"\nerasures = 0.1\nslot = \"1 ms\"",
            "geo.toml line 1: link.feedback: 1 ms is faster than the round trip; give `rtt` (100 ms) or more",
        ),
        (
            "scheme = \"HARQ(12/10)\"",
            "geo.toml line 1: scheme: HARQ(12/10): 12/10 sends fewer LLDUs than it carries",
        ),
        ("[channel]\nerasures = 0.1", "geo.toml line 1: channel: missing key `model`"),
        (
            "[channel]\nmodel = \"markov\"",
            "geo.toml line 2: channel.model: unknown value `markov`, one of bernoulli, gilbert-elliott, lms",
        ),
        (
            "[channel]\nmodel = \"bernoulli\"\nerasures = 0.1",
            "geo.toml line 1: channel: missing key `slot`",
        ),
        (
            "[channel]\nmodel = \"bernoulli\"\nslot = \"1 ms\"",
            "geo.toml line 1: channel: missing key `erasures`",
        ),
        (
            "[channel]\nmodel = \"bernoulli\"\nerasures = 1.5",
            "geo.toml line 3: channel.erasures: 1.5 is not a probability",
        ),
        (
            "[channel]\nmodel = \"bernoulli\"\nerasures = 0.1\nburst = 2\nslot = \"1 ms\"",
            "geo.toml line 4: channel.burst: belongs to model = \"gilbert-elliott\"",
        ),
        (
            "[channel]\nmodel = \"bernoulli\"\nerasures = 0.1\nslot = \"1 ms\"\nrate = \"1 Mbit/s\"",
            "geo.toml line 5: channel.rate: `slot` and `rate` are alternatives",
        ),
        (
            "[channel]\nmodel = \"gilbert-elliott\"\nslot = \"1 ms\"\nerasures = 0.1",
            "missing key `burst`",
        ),
        (
            "[channel]\nmodel = \"gilbert-elliott\"\nslot = \"1 ms\"\nerasures = 0.1\nburst = 2\nalpha = 0.9",
            "geo.toml line 6: channel.alpha: give either",
        ),
        (
            "[channel]\nmodel = \"gilbert-elliott\"\nslot = \"1 ms\"\nerasures = 0.9\nburst = 2",
            "geo.toml line 5: channel.burst: this share of erasures needs bursts",
        ),
        (
            "[trace]\nfile = \"x.csv\"\n[channel]\nmodel = \"bernoulli\"\nerasures = 0.1\nslot = \"1 ms\"",
            "geo.toml line 6: channel.slot: the slots come from [trace]",
        ),
        (
            "[channel]\nmodel = \"bernoulli\"\nesn0 = \"6 dB\"",
            "geo.toml line 3: channel.esn0: belongs to model = \"lms\"",
        ),
        (
            "[channel]\nmodel = \"lms\"\nesn0 = 6",
            "geo.toml line 3: channel.esn0: `6` has no unit; write a level as e.g. \"6 dB\" (units: dB)",
        ),
        (
            "[channel]\nmodel = \"lms\"\nesn0 = \"600 dB\"",
            "geo.toml line 3: channel.esn0: 600 is out of range; give a level in dB from -100 to 100",
        ),
        (
            "[channel]\nmodel = \"lms\"\npreset = \"internt\"",
            "geo.toml line 3: channel.preset: unknown value `internt`, one of internet, distribution, distribution-down, its, aeronautical (did you mean internet?)",
        ),
        (
            "[channel]\nmodel = \"lms\"\nenvironment = \"rural-woded\"",
            "geo.toml line 3: channel.environment: unknown value `rural-woded`, one of urban, suburban, rural-wooded, village, residential, open, intermediate-tree-shadowed, heavy-tree-shadowed (did you mean rural-wooded?)",
        ),
        (
            "[channel]\nmodel = \"lms\"\nenvironment = \"urban\"\npropagation = \"perez-fontan\"",
            "geo.toml line 3: channel.environment: the Perez-Fontan tables hold no environment `urban`; they hold open,",
        ),
        (
            "[channel]\nmodel = \"lms\"\nenvironment = \"urban\"\npropagation = \"p618\"",
            "geo.toml line 4: channel.propagation: unknown value `p618`, one of p681, perez-fontan (did you mean p681?)",
        ),
        (
            "[channel]\nmodel = \"lms\"\nenvironment = \"urban\"\nelevation = \"10 deg\"",
            "geo.toml line 4: channel.elevation: elevation 10 degrees is outside the P.681 table of urban, which holds 20 to 70 degrees",
        ),
        (
            "[channel]\nmodel = \"lms\"\nelevation = \"40 deg\"",
            "geo.toml line 3: channel.elevation: needs an environment; name one",
        ),
        (
            "[channel]\nmodel = \"lms\"\nenvironment = \"urban\"\ncarrier = \"12 GHz\"",
            "geo.toml line 4: channel.carrier: a carrier of 12 GHz is outside the P.681 tables",
        ),
        (
            "[channel]\nmodel = \"lms\"\nspeed = \"0 km/h\"",
            "geo.toml line 3: channel.speed: 0 is out of range; give a speed in km/h, above 0",
        ),
        (
            "[channel]\nmodel = \"lms\"\nspeed = \"60 knots\"",
            "geo.toml line 3: channel.speed: unknown unit in `60 knots`; a speed is in km/h, m/s",
        ),
        (
            "[channel]\nmodel = \"lms\"\nenvironment = \"urban\"\n[channel.loo]\ndirect = \"0 dB\"\npsi = \"1 dB\"\nmultipath = \"-11 dB\"\ncorrelation = \"1.7 m\"",
            "geo.toml line 1: channel: environment, loo and trees are alternatives",
        ),
        (
            "[channel]\nmodel = \"lms\"\n[channel.loo]\ndirect = \"0 dB\"\npsi = \"-1 dB\"\nmultipath = \"-11 dB\"\ncorrelation = \"1.7 m\"",
            "geo.toml line 5: channel.loo.psi: -1 is out of range; give a standard deviation in dB from 0 to 30",
        ),
        (
            "[channel]\nmodel = \"lms\"\n[channel.trees]\ngap = \"65 m\"\ncrossing = \"5 m\"\ndepth = \"5 dB\"\nspread = \"0 dB\"\nmultipath = \"60 dB\"",
            "geo.toml line 8: channel.trees.multipath: 60 is out of range",
        ),
        (
            "[channel]\nmodel = \"lms\"\nmodulation = \"8psk\"",
            "geo.toml line 3: channel.modulation: unknown value `8psk`, one of qpsk, 16qam",
        ),
        (
            "[channel]\nmodel = \"lms\"\nreference = \"mean power\"",
            "geo.toml line 3: channel.reference: unknown value `mean power`, one of mean, los",
        ),
        (
            "[channel]\nmodel = \"lms\"\ncode = \"turbo-264-1/2\"",
            "one of turbo-264-1/3, turbo-264-2/3, turbo-12184-1/3, turbo-12184-2/3 (did you mean turbo-264-1/3?)",
        ),
        (
            "[channel]\nmodel = \"lms\"\ncode = \"turbo-264-1/3\"\nthreshold = 0.5",
            "geo.toml line 4: channel.threshold: give one of",
        ),
        (
            "[channel]\nmodel = \"lms\"\nthreshold = 1.5",
            "geo.toml line 3: channel.threshold: 1.5 is out of range; give a mutual information",
        ),
        (
            "[channel]\nmodel = \"lms\"\nper_table = [[0.5, 0.1]]",
            "geo.toml line 3: channel.per_table: the table of packet error rates has fewer than two rows",
        ),
        (
            "[channel]\nmodel = \"lms\"\nper_axis = \"esn0\"",
            "geo.toml line 3: channel.per_axis: needs `per_table`",
        ),
        (
            "[channel]\nmodel = \"lms\"\nerasures = 0.1",
            "geo.toml line 3: channel.erasures: belongs to model = \"bernoulli\"; remove it, or change `model`",
        ),
        (
            "[channel]\nmodel = \"lms\"\ndecoding = \"36 ms\"",
            "geo.toml line 3: channel.decoding: with \"lms\" it is the interleaver's depth",
        ),
        (
            "[channel]\nmodel = \"lms\"\ninterleaving = \"2 h\"",
            "geo.toml line 3: channel.interleaving: 7200 s is out of range; give an interleaver of up to 1000 s",
        ),
        (
            "[channel]\nmodel = \"lms\"\nbranches = 1001",
            "geo.toml line 3: channel.branches: 1001 is out of range; give at most 1000, or 0 for",
        ),
        (
            "[channel]\nmodel = \"bernoulli\"\nerasures = 0\nrate = \"1 bit/s\"\nlldu = \"4294967295 B\"",
            "geo.toml line 5: channel.lldu: a slot takes over 2^61 ns (73 years); give less time",
        ),
        (
            "channel = { model = \"bernoulli\", erasures = 0, rate = \"2 Mbit/s\", lldu = \"4294967295 B\" }",
            "channel.length: 460 s hold 0 slots of 17179869.18 ms; give a length of 1 to 4294967295 slots, or other slots (`lldu`,",
        ),
        (
            "link.aqm = \"codel\"\n[carrier]\nrate = \"5 Mbit/s\"",
            "geo.toml line 1: link.aqm: does not apply to [carrier], which has a queue for each terminal; leave it out",
        ),
        (
            "[carrier]\nrate = \"5 Mbit/s\"\nfades = { share = \"10 %\", mean = \"1 s\" }",
            "geo.toml line 3: carrier.fades.bytes: a fade changes nothing; give `bytes`, or `loss`",
        ),
        (
            "[carrier]\nrate = \"5 Mbit/s\"\n[carrier.scheduler]\ntype = \"demand\"\nframe = \"1 h\"",
            "geo.toml line 5: carrier.scheduler.frame: 3600 s holds 1500000 slots of 2.4 ms; give a frame of at most",
        ),
        (
            "[carrier]\nrate = \"5 Mbit/s\"\nterminals = 20000\n[carrier.scheduler]\ntype = \"demand\"\nspread = 1000",
            "geo.toml line 6: carrier.scheduler.spread: 1000 frames for each of 20000 terminals are over",
        ),
        (
            "link.aqm = \"codel\"\n[ntn]\nterminals = 2",
            "geo.toml line 1: link.aqm: does not apply to [ntn], which has a queue for each terminal; leave it out",
        ),
        ("ntn.terminals = 1001", "geo.toml line 1: ntn.terminals: 1001; give 1 to 1000"),
        (
            "[ntn]\nterminals = 2\n[channel]\nmodel = \"lms\"",
            "geo.toml line 2: ntn.terminals: each terminal has its own random block errors; give 1, or",
        ),
        (
            "[ntn]\nterminals = 2\nscheduler = { type = \"demand\" }",
            "geo.toml line 3: ntn.scheduler: \"demand\" is of a [carrier]; leave it out: here `grants`",
        ),
        (
            "[ntn]\nterminals = 2\nscheduler = { type = \"proportional fair\", memory = \"1 us\" }",
            "geo.toml line 3: ntn.scheduler.memory: is shorter than a slot; give a longer time",
        ),
        (
            "ntn.delay = \"9000000000 s\"",
            "geo.toml line 1: ntn.delay: the propagation delay is over 2^59 ns (18 years); check the",
        ),
        (
            "ntn.return_delay = \"9000000000 s\"",
            "geo.toml line 1: ntn.return_delay: the propagation delay is over 2^59 ns",
        ),
        ("ntn.decoding = \"9000000000 s\"", "geo.toml line 1: ntn.decoding: the decoding time is"),
        ("ntn.k_offset = \"9000000000 s\"", "geo.toml line 1: ntn.k_offset: K_offset is over 2^59"),
        (
            "ntn.processing = \"9000000000 s\"",
            "geo.toml line 1: ntn.processing: the processing time is over 2^59 ns",
        ),
        (
            "[channel]\nmodel = \"lms\"\nlength = \"1 us\"",
            "geo.toml line 3: channel.length: 1 us hold 0 slots",
        ),
        (
            "[channel]\nmodel = \"lms\"\nrate = \"1 Mbit/s\"\nslot = \"1 ms\"",
            "geo.toml line 3: channel.rate: `slot` and `rate` are alternatives",
        ),
        (
            "[trace]\nfile = \"x.csv\"\n[channel]\nmodel = \"lms\"",
            "geo.toml line 4: channel.model: \"lms\" generates its own slots",
        ),
        ("[trace]\nfile = \"x.csv\"\nshare = 0", "geo.toml line 3: trace.share: must be 1 or more"),
        ("[trace]\nunit = \"ms\"", "geo.toml line 1: trace: missing key `file`"),
        ("seed = 1", "geo.toml: the scenario has no link; give [trace]"),
        (
            "[application]\nsize = \"1 kB\"",
            "geo.toml line 2: application.size: belongs to type = \"file\"",
        ),
        ("[application]\ntype = \"file\"", "geo.toml line 1: application: missing key `size`"),
        ("[transport]\nprotocol = \"udp\"", "application.type: datagrams have no flow control"),
        (
            "[transport]\nprotocol = \"udp\"\ncongestion = \"bbr\"\n[application]\n\
             type = \"constant rate\"\nrate = \"1 Mbit/s\"",
            "geo.toml line 3: transport.congestion: belongs to protocol = \"tcp\" or \"quic\"; set \
             the protocol, or leave it out",
        ),
        (
            "[transport]\nprotocol = \"udp\"\nlinux.rack = false\n[application]\ntype = \"voice\"\n\
             [vary]\nseed = [1, 2]",
            "geo.toml line 3: transport.linux: belongs to protocol = \"tcp\"; set",
        ),
        (
            "[transport]\nsack = false\ncongestion = \"newreno\"\n[[flow]]\n[[flow]]\n\
             application.type = \"voice\"\ntransport.protocol = \"udp\"\ntransport.ecn = true",
            "geo.toml line 8: flow.1.transport.ecn: belongs to protocol = \"tcp\" or \"quic\"; set",
        ),
        (
            "[transport]\npacket = \"40 B\"",
            "geo.toml line 2: transport.packet: 40 bytes is not a valid TCP packet size; give 53 to 65535",
        ),
        (
            "[transport]\ncongestion = \"cubik\"",
            "geo.toml line 2: transport.congestion: unknown value `cubik`, one of newreno, cubic, hybla, ",
        ),
        ("[transport]\ncongestion = \"cubik\"", " (did you mean cubic?)"),
        (
            "[transport]\ncongestion = \"cubic\"\nsack = false",
            "geo.toml line 3: transport.sack: `sack = false` supports newreno only",
        ),
        (
            "[transport]\nprofile = \"papers\"\n[transport.linux]\nrack = false",
            "geo.toml line 3: transport.linux: belongs to profile = \"linux\"",
        ),
        (
            "[transport]\nprofile = \"linux\"\n[transport.linux]\nrak = false",
            "geo.toml line 4: transport.linux.rak: unknown key, one of handshake, rack, tail_loss_probe, prr, dsack, undo, frto, max_reordering, hystart, hystart_plus, quick_ack, sack_compression, slow_start_after_idle, pacing, window_growth, burst_deferral, timer_ticks (did you mean rack?)",
        ),
        (
            "[transport]\nprofile = \"linux\"\nlinux.max_reordering = 2",
            "geo.toml line 3: transport.linux.max_reordering: max_reordering = 2: give 3 segments",
        ),
        ("flows = 0", "geo.toml line 1: flows: 0 flows"),
        ("flows = 2\n[[flow]]\ncount = 3", "geo.toml line 1: flows: [[flow]] lists the flows"),
        (
            "[[flow]]\n[flow.transport]\npaket = \"1 B\"",
            "geo.toml line 3: flow.0.transport.paket: unknown key",
        ),
        ("[link]\nqueue = \"many\"", "geo.toml line 2: link.queue: `many` is not a queue"),
        (
            "[link]\nstart = \"random\"\n[[path]]\nleg = { delay = \"1 ms\" }",
            "geo.toml line 2: link.start: [[path]] gives the path hop by hop; move it into a hop",
        ),
        (
            "[[path]]\nleg = { delay = \"1 ms\" }\nscheme = \"ARQ\"",
            "path.0.leg: a hop is a leg or a link",
        ),
        (
            "[return]\ndelay = \"1 ms\"\n[return.channel]\nmodel = \"bernoulli\"\nerasures = 0.0\nslot = \"1 ms\"\n[trace]\nfile=\"a\"",
            "geo.toml line 2: return.delay: the return path has its own link",
        ),
        (
            "[vary]\nshceme = [\"ARQ\"]\n",
            "geo.toml line 2: vary.shceme: unknown key (did you mean scheme?)",
        ),
        ("[vary]\nscheme = \"ARQ\"\n", "geo.toml line 2: vary.scheme: one value does not vary"),
        (
            "[vary]\nseed = { from = 1, to = 3, stpe = 1 }\n",
            "geo.toml line 2: vary.seed.stpe: unknown key of a range",
        ),
        (
            "[vary]\nseed = { from = 1, to = 3 }\n",
            "geo.toml line 2: vary.seed: a range needs `step`",
        ),
        ("[vary]\nseed = { to = 3 }\n", "geo.toml line 2: vary.seed: a range needs `from`"),
        (
            "[vary]\nseed = { from = 1, to = 3, step = -1 }\n",
            "geo.toml line 2: vary.seed.step: does not lead to `to`",
        ),
        (
            "[vary]\nlink.rtt = { from = \"1 ms\", to = \"3 kB\", points = 2 }\n",
            "geo.toml line 2: vary.link.rtt.to: has another kind of unit",
        ),
        (
            "[vary]\nlink.rtt = { from = \"1 ms\", to = \"3 parsec\", points = 2 }\n",
            "geo.toml line 2: vary.link.rtt.to: is not a number",
        ),
        (
            "[vary]\nseed = { from = 0, to = 9, points = 3, scale = \"log\" }\n",
            "geo.toml line 2: vary.seed.scale: \"log\" needs both ends above zero",
        ),
        (
            "[vary]\nseed = { from = 0, to = 1e9, step = 0.1 }\n",
            "geo.toml line 2: vary.seed.step: makes more than",
        ),
        (
            "[vary]\nflows = { from = 1, to = 2, points = 3 }\n[channel]\nmodel = \"bernoulli\"\nslot = \"1 ms\"\nerasures = 0",
            "geo.toml line 2: flows: ",
        ),
        (
            "[vary.zip.both]\nseed = [1, 2]\nflows = [1, 2, 3]\n",
            "geo.toml line 3: vary.zip.both.flows: has 3 values, and `seed` has 2",
        ),
        (
            "[vary.zip.both]\nseed = { from = 1, to = 2 }\n",
            "geo.toml line 1: vary.zip.both: the number of points is missing",
        ),
        ("[vary.zip.both]\nseed = 1\n", "geo.toml line 2: vary.zip.both.seed: one value does not"),
        ("[vary.zip]\nboth = 1\n", "geo.toml line 2: vary.zip.both: is not a section"),
        ("[vary.sample]\nseed = 1\n", "geo.toml line 1: vary.sample: a sample needs `points`"),
        ("[vary.sample]\npoints = 4\n", "geo.toml line 1: vary.sample: no key varies"),
        (
            "[vary.sample]\npoints = 4\nmethod = \"sobel\"\n",
            "geo.toml line 3: vary.sample.method: give \"sobol\" or \"lhs\"",
        ),
        (
            "[vary.sample]\npoints = 4\nflows = { from = 1, to = 9, step = 1 }\n",
            "geo.toml line 3: vary.sample.flows.step: the sample's `points` gives the number",
        ),
        (
            "[vary.sample]\npoints = 40\nflows = [1, 2]\n",
            "geo.toml line 2: vary.sample.points: only 2 points differ",
        ),
        (
            "[vary.zip.x]\nseed = [1, 2]\n[vary.x.a]\nflows = 1\n",
            "geo.toml line 1: vary: two axes have the name `x`",
        ),
        ("[vary]\nscheme = []\n", "geo.toml line 2: vary.scheme: the list is empty"),
        (
            "[vary]\nscheme = [\"ARQ\", \"ARQ\"]\n",
            "geo.toml line 2: vary.scheme: `ARQ` is given twice",
        ),
        (
            "[vary]\nscheme = [\"ARQ\", \"ARC\"]\n[trace]\nfile = \"x\"",
            "geo.toml line 2: scheme: ARC: unknown scheme",
        ),
        (
            "[vary]\naccess = [{ delay = \"1 ms\" }]\n",
            "geo.toml line 2: vary.access.0: only plain values are labels",
        ),
        (
            "[vary.condition.bad]\nchannel.erasurs = 0.1\n[channel]\nmodel = \"bernoulli\"\nslot = \"1 ms\"",
            "geo.toml line 2: channel.erasurs: unknown key",
        ),
        (
            "[vary.condition.bad]\nvary.x = 1\n",
            "geo.toml line 2: vary.condition.bad.vary.x: must not vary",
        ),
        ("[vary.condition]\nbad = 1\n", "geo.toml line 1: vary.condition: unknown key"),
        ("vary = 1", "geo.toml line 1: vary: is not a section"),
        (
            "[[printed]]\nmetric = \"x\"\nvalue = 1\nwhere = { speed = \"1\" }",
            "geo.toml line 4: printed.0.where.speed: no such axis; [vary] has none",
        ),
        (
            "[[printed]]\nmetric = \"x\"\nvalue = 1\nwhere = { scheme = \"HARQ\" }\n[vary]\nscheme = [\"ARQ\"]",
            "geo.toml line 4: printed.0.where.scheme: no label `HARQ`; the axis has ARQ",
        ),
        ("[[printed]]\nmetric = \"x\"\n", "geo.toml line 1: printed.0: missing key `value`"),
        ("name = ", "geo.toml line 1: not TOML: "),
        ("a = 1\na = 2", "geo.toml line 2: not TOML: duplicate key"),
    ];
    for (text, expected) in table {
        let message = error(text);
        assert!(
            message.contains(expected),
            "for {text:?}\n  got      {message}\n  expected {expected}"
        );
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn a_link_without_a_trace_has_no_time_of_it() {
    let says = "the link has no trace, whose time this is about; leave it out";
    for kind in ["carrier.rate = \"5 Mbit/s\"", "ntn.preset = \"nr-ntn-geo\""] {
        for (key, value) in [("start", "\"1 s\""), ("start", "\"random\""), ("wrap", "true")] {
            let found = fault(&format!("{kind}\nlink.{key} = {value}\n"), &Given::phy([]));
            assert_eq!(found, (format!("link.{key}"), says.to_owned()));
        }
    }
    let text = "carrier.rate = \"5 Mbit/s\"\nlink = { start = \"0 s\", wrap = false }\n";
    setup(text, &Given::phy([]));
}

#[test]
fn a_missing_trace_file_is_reported_with_key_and_line() {
    let message = |text: &str, changes: &[(String, String)]| {
        let scenario = Scenario::parse("geo.toml", text, changes, &Registry::new()).unwrap();
        let cell = &scenario.cells()[0];
        let mut files = InMemory::default();
        files.insert("x.csv", "t_ns,d_ns\n0,5\n10,0\n20,5\n");
        let fault = cell.setup(0, &Store::new(files)).unwrap_err();
        let message = cell.error(scenario.file(), &fault);
        assert!(matches!(fault, SetupFault::Trace(MakeError::Trace { .. })));
        message.to_string()
    };
    let text = "duration = \"5 us\"\n[trace]\nfile = \"gone.csv\"\n";
    let opened = "gone.csv: cannot be opened: entity not found";
    assert_eq!(message(text, &[]), format!("geo.toml line 3: trace.file: {opened}"));
    let set = [("trace.file".to_owned(), "gone.csv".to_owned())];
    let given = text.replace("gone", "x");
    let expected = format!("geo.toml, set trace.file = gone.csv: trace.file: {opened}");
    assert_eq!(message(&given, &set), expected);
    let hop = "[[path]]\nleg.delay = \"1 ms\"\n[[path]]\n[path.trace]\nfile = \"gone.csv\"\n";
    assert_eq!(message(hop, &[]), format!("geo.toml line 5: path.1.trace.file: {opened}"));
    let back =
        "link.live = true\nlink.feedback_trace.file = \"gone.csv\"\ntrace.file = \"x.csv\"\n";
    assert_eq!(message(back, &[]), format!("geo.toml line 2: link.feedback_trace.file: {opened}"));
}
