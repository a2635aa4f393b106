//! MODCODs of DVB-S2 and DVB-S2X: normal FEC frames, no pilots, an ideal demodulator in AWGN.

/// Name, efficiency in bit/symbol, Es/N0 in dB for a packet error ratio of 1e-5 (quasi-error-free).
pub(super) type Entry = (&'static str, f64, f64);

/// ETSI EN 302 307-1, table 13, in the order of the standard's MODCOD numbers, 1 to 28.
pub(super) const DVB_S2: [Entry; 28] = [
    ("QPSK 1/4", 0.490243, -2.35),
    ("QPSK 1/3", 0.656448, -1.24),
    ("QPSK 2/5", 0.789412, -0.30),
    ("QPSK 1/2", 0.988858, 1.00),
    ("QPSK 3/5", 1.188304, 2.23),
    ("QPSK 2/3", 1.322253, 3.10),
    ("QPSK 3/4", 1.487473, 4.03),
    ("QPSK 4/5", 1.587196, 4.68),
    ("QPSK 5/6", 1.654663, 5.18),
    ("QPSK 8/9", 1.766451, 6.20),
    ("QPSK 9/10", 1.788612, 6.42),
    ("8PSK 3/5", 1.779991, 5.50),
    ("8PSK 2/3", 1.980636, 6.62),
    ("8PSK 3/4", 2.228124, 7.91),
    ("8PSK 5/6", 2.478562, 9.35),
    ("8PSK 8/9", 2.646012, 10.69),
    ("8PSK 9/10", 2.679207, 10.98),
    ("16APSK 2/3", 2.637201, 8.97),
    ("16APSK 3/4", 2.966728, 10.21),
    ("16APSK 4/5", 3.165623, 11.03),
    ("16APSK 5/6", 3.300184, 11.61),
    ("16APSK 8/9", 3.523143, 12.89),
    ("16APSK 9/10", 3.567342, 13.13),
    ("32APSK 3/4", 3.703295, 12.73),
    ("32APSK 4/5", 3.951571, 13.64),
    ("32APSK 5/6", 4.119540, 14.28),
    ("32APSK 8/9", 4.397854, 15.69),
    ("32APSK 9/10", 4.453027, 16.05),
];

/// Additional MODCODs of ETSI EN 302 307-2, table 20a (column of the linear channel).
pub(super) const DVB_S2X: [Entry; 39] = [
    ("QPSK 2/9", 0.434841, -2.85),
    ("QPSK 13/45", 0.567805, -2.03),
    ("QPSK 9/20", 0.889135, 0.22),
    ("QPSK 11/20", 1.088581, 1.45),
    ("8APSK 5/9-L", 1.647211, 4.73),
    ("8APSK 26/45-L", 1.713601, 5.13),
    ("8PSK 23/36", 1.896173, 6.12),
    ("8PSK 25/36", 2.062148, 7.02),
    ("8PSK 13/18", 2.145136, 7.49),
    ("16APSK 1/2-L", 1.972253, 5.97),
    ("16APSK 8/15-L", 2.104850, 6.55),
    ("16APSK 5/9-L", 2.193247, 6.84),
    ("16APSK 26/45", 2.281645, 7.51),
    ("16APSK 3/5", 2.370043, 7.80),
    ("16APSK 3/5-L", 2.370043, 7.41),
    ("16APSK 28/45", 2.458441, 8.10),
    ("16APSK 23/36", 2.524739, 8.38),
    ("16APSK 2/3-L", 2.635236, 8.43),
    ("16APSK 25/36", 2.745734, 9.27),
    ("16APSK 13/18", 2.856231, 9.71),
    ("16APSK 7/9", 3.077225, 10.65),
    ("16APSK 77/90", 3.386618, 11.99),
    ("32APSK 2/3-L", 3.291954, 11.10),
    ("32APSK 32/45", 3.510192, 11.75),
    ("32APSK 11/15", 3.620536, 12.17),
    ("32APSK 7/9", 3.841226, 13.05),
    ("64APSK 32/45-L", 4.206428, 13.98),
    ("64APSK 11/15", 4.338659, 14.81),
    ("64APSK 7/9", 4.603122, 15.47),
    ("64APSK 4/5", 4.735354, 15.87),
    ("64APSK 5/6", 4.936639, 16.55),
    ("128APSK 3/4", 5.163248, 17.73),
    ("128APSK 7/9", 5.355556, 18.53),
    ("256APSK 29/45-L", 5.065690, 16.98),
    ("256APSK 2/3-L", 5.241514, 17.24),
    ("256APSK 31/45-L", 5.417338, 18.10),
    ("256APSK 32/45", 5.593162, 18.59),
    ("256APSK 11/15-L", 5.768987, 18.84),
    ("256APSK 3/4", 5.900855, 19.57),
];

/// Name, data bits of BCH, Es/N0 in dB with the frame error rate there.
pub(super) type Curve = (&'static str, u32, &'static [(f64, f64)]);

/// Frame error rates of short frames in white noise: results of the open-source DVB-S2 receiver of
/// AFF3CT (github.com/aff3ct/dvbs2, `refs/TX_RX_BB`, by Es/N0), whose LDPC decoder uses the
/// sum-product algorithm with 50 iterations. Each rate counts 100 to 221 lost frames.
pub(super) const SHORT: [Curve; 5] = [
    ("QPSK 3/5", 9552, &[(2.02, 0.220), (2.12, 0.0340), (2.22, 0.00234)]),
    ("QPSK 8/9", 14_232, &[(6.05, 0.235), (6.15, 0.0539), (6.25, 0.00351)]),
    ("8PSK 3/5", 9552, &[(5.18, 0.501), (5.28, 0.170), (5.38, 0.0230), (5.48, 0.00188)]),
    ("8PSK 8/9", 14_232, &[(10.41, 0.476), (10.51, 0.166), (10.61, 0.0310), (10.71, 0.00323)]),
    (
        "16APSK 8/9",
        14_232,
        &[(12.56, 0.642), (12.66, 0.276), (12.76, 0.0729), (12.86, 0.0116), (12.96, 0.000_923)],
    ),
];

/// Symbols of a frame: its coded bits in slots of 90 symbols, after a header of 90 symbols.
pub(super) fn symbols(name: &str, coded: u32) -> u32 {
    let bits = match name.split(' ').next().unwrap_or_default() {
        "QPSK" => 2,
        "8PSK" | "8APSK" => 3,
        "16APSK" => 4,
        "32APSK" => 5,
        "64APSK" => 6,
        "128APSK" => 7,
        _ => 8,
    };
    (coded.div_ceil(bits).div_ceil(90) + 1) * 90
}
