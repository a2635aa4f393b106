//! Tests of the core from outside, a module a subject: one program, so that the core is linked
//! once. `cargo test -p clift-tests live::` runs the tests of one subject.

mod adaptive_harq;
mod ahead;
mod applications;
mod budget;
mod carrier;
mod coding;
mod departures;
mod diagnosis;
mod engine;
mod engine_reference;
mod fuzz_corpus;
mod hybrid;
mod land_mobile;
mod laws;
mod layers;
mod link;
mod link_columns;
mod link_kinds;
mod live;
mod model;
mod model_patterns;
mod modem;
mod multipath;
mod networks;
mod ntn;
mod ntn_cell;
mod ntn_control;
mod ntn_laws;
mod own_congestion_control;
mod own_scheme;
mod proxies;
mod queues;
mod split_dialogues;
mod stream_order;
mod table3;
mod tcp_bbr;
mod tcp_bbr3;
mod tcp_linux;
mod tcp_papers;
mod tcp_properties;
mod tcp_start;
mod tmt;
mod way;

/// A file without a `mod` line above would not run.
#[test]
fn every_file_here_is_a_module() {
    for entry in std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") else {
            continue;
        };
        let line = format!("\nmod {module};\n");
        assert!(include_str!("main.rs").contains(&line), "{name} is not a module of main.rs");
    }
}
