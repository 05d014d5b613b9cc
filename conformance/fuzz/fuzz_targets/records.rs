//! Lines of a log.
#![no_main]

libfuzzer_sys::fuzz_target!(|line: &[u8]| {
    ropewalk_daemon::store::holds::of_a_line(line);
});
