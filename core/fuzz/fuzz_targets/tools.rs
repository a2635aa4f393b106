#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| clift_fuzz::tools(data));
