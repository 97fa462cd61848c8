//! FNV-1a of 64 bits: tells a file that was cut, damaged or edited, not one that was forged.

/// The sum of bytes that come one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    /// More bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The sum so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// The sum of these bytes.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let mut sum = Fnv1a::default();
    sum.add(bytes);
    sum.value()
}

#[cfg(test)]
mod tests {
    #[test]
    fn known_sums() {
        // Fowler, Noll and Vo's own test vectors.
        assert_eq!(super::fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(super::fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(super::fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
