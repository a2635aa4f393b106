//! Pointers that cross the C interface, also under Miri:
//! `MIRIFLAGS=-Zmiri-disable-isolation cargo miri test -p clift-c`.

use std::ffi::{CStr, CString, c_char};
use std::ptr::null_mut;

use clift_c::*;

fn taken(error: *mut c_char) -> String {
    // SAFETY: `error` came from the interface and is freed once.
    unsafe {
        let text = CStr::from_ptr(error).to_str().unwrap().to_owned();
        clift_string_free(error);
        text
    }
}

#[test]
fn handles_texts_and_structures_are_used_within_their_bounds() {
    let text = CString::new(
        "duration = \"1 s\"\n[[path]]\nleg = { rate = \"8 Mbit/s\", delay = \"5 ms\" }\n",
    )
    .unwrap();
    let mut error = null_mut();
    // SAFETY: texts end with a zero byte; handles are used as the header says.
    unsafe {
        let scenario = clift_scenario_parse(text.as_ptr(), std::ptr::null(), &raw mut error);
        assert!(!scenario.is_null() && error.is_null());
        let (key, value) = (c"path.0.leg.delay", c"never");
        let set = clift_scenario_set(scenario, key.as_ptr(), value.as_ptr(), &raw mut error);
        assert_eq!(set, -1);
        assert!(taken(error).contains("path.0.leg.delay"));
        let link = clift_scenario_way(scenario, &7, CLIFT_REVERSE, &raw mut error);
        clift_scenario_free(scenario);
        assert_eq!(clift_link_enqueue(link, 0, 3, 1000), CLIFT_QUEUED);
        assert_eq!(clift_link_enqueue(link, 0, 3, 1000), CLIFT_WRONG);
        assert!(!clift_link_error(link).is_null());
        let mut event = clift_event { kind: 9, pad: 9, packet: 9, at_ns: 9 };
        let mut fates = Vec::new();
        loop {
            let next = clift_link_next(link);
            if next == CLIFT_NEVER {
                break;
            }
            while clift_link_poll(link, next, &raw mut event) == 1 {
                fates.push((event.kind, event.packet, event.at_ns));
            }
        }
        assert_eq!(fates, [(CLIFT_DEPARTED, 3, 0), (CLIFT_DELIVERED, 3, 6_000_000)]);
        let mut counters = clift_counters::default();
        assert_eq!(clift_link_counters(link, 0, &raw mut counters), 0);
        assert_eq!((counters.offered, counters.delivered), (1, 1));
        assert!(taken(clift_link_report(link, 0)).contains("\"offered\":1"));
        clift_link_free(link);
        assert!(clift_link_new_text(null_mut(), null_mut(), 1, &raw mut error).is_null());
        assert_eq!(taken(error), "the scenario is null");
        assert!(clift_link_new(null_mut(), 1, null_mut()).is_null());
    }
}
