//! Where a body is cut, at random.

use rand::{Rng, rngs::StdRng};

/// Where a body is cut: few places or many, anywhere.
pub(in crate::models) fn random_offsets(random: &mut StdRng, length: usize) -> Vec<usize> {
    if length < 2 {
        return Vec::new();
    }
    let most = usize::min(60, length);
    let cuts = random.random_range(1..most);
    let mut offsets = (0..cuts).map(|_| random.random_range(1..length)).collect::<Vec<_>>();
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}
