//! Schemes as text in scenario files.

use crate::scheme::Scheme;
use crate::units::quantity;

quantity!(
    Scheme,
    "Scheme",
    r"^\s*([Nn]one|FEC\s*\(.*\)|ARQ\s*(\(.*\))?|HARQ\s*\(.*\))\s*$",
    "a link-layer scheme: \"none\", \"FEC(10/12)\", \"FEC(10/12, interleave 8)\", \"ARQ\", \"ARQ(max 3)\", \"HARQ(10/12)\" or \"HARQ(10/12, extra 1, rounds 2)\""
);
