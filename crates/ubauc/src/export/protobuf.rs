//! Messages of Protocol Buffers, as far as an ONNX file needs them: fields with a number, written one after the other.

/// A message that is being written.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// A whole number.
    pub(super) fn int(mut self, field: u32, value: i64) -> Message {
        self.key(field, 0);
        self.varint(value as u64);
        self
    }

    /// Bytes, or a text.
    pub(super) fn bytes(mut self, field: u32, value: impl AsRef<[u8]>) -> Message {
        let value = value.as_ref();
        self.key(field, 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// A message inside this one.
    pub(super) fn message(self, field: u32, value: Message) -> Message {
        self.bytes(field, value.0)
    }

    /// Texts, each a field of its own.
    pub(super) fn texts<T: AsRef<[u8]>>(
        self,
        field: u32,
        values: impl IntoIterator<Item = T>,
    ) -> Message {
        let all = values.into_iter();
        all.fold(self, |message, text| message.bytes(field, text))
    }

    /// Whole numbers, each a field of its own.
    pub(super) fn ints(self, field: u32, values: impl IntoIterator<Item = i64>) -> Message {
        let all = values.into_iter();
        all.fold(self, |message, value| message.int(field, value))
    }

    /// What has been written.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    /// Seven bits a byte, the lowest first.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification() {
        assert_eq!(
            Message::default().int(1, 150).into_bytes(),
            [0x08, 0x96, 0x01]
        );
        let text = Message::default().bytes(2, "testing").into_bytes();
        assert_eq!(text, *b"\x12\x07testing");
        let inner = Message::default().int(1, 150);
        let outer = Message::default().message(3, inner).into_bytes();
        assert_eq!(outer, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let negative = Message::default().int(1, -1).into_bytes();
        assert_eq!(negative.len(), 11);
    }
}
