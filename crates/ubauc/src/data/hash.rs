//! splitmix64 (Steele, Lea, Flood 2014): words that look random, fixed for ever.

/// Output j of splitmix64 from seed 0: its finaliser, a bijection of 64-bit words, of j + 1 times its odd constant.
#[inline]
pub(crate) fn mix(j: u64) -> u64 {
    let mut z = j.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_those_of_splitmix64() {
        // The published first outputs of splitmix64 from seed 0.
        let published = [
            0xe220_a839_7b1d_cdaf_u64,
            0x6e78_9e6a_a1b9_65f4,
            0x06c4_5d18_8009_454f,
        ];
        assert_eq!([0, 1, 2].map(super::mix), published);
    }
}
