#![no_main]

// Without `enable` a panic that the reader catches ends the process.
libfuzzer_sys::fuzz_target!(
    init: clift::trace::parquet::enable(),
    |data: &[u8]| clift_fuzz::parquet(data)
);
