//! Lines of the wire: what the peer sees of one before it is parsed.
#![no_main]

libfuzzer_sys::fuzz_target!(|line: &[u8]| {
    ropewalk_peer::holds::of_a_line(line);
});
