//! Streams of lines, cut into pieces. The first two bytes say how long a line may be, and how long the pieces are.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let [max, length, stream @ ..] = input {
        let pieces = stream.chunks(1 + usize::from(*length)).map(<[u8]>::to_vec).collect();
        ropewalk_peer::holds::of_a_stream(pieces, 1 + usize::from(*max));
    }
});
