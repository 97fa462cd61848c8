//! A learner as bytes, bit for bit, in a [`container`]: all fields of [`Learner`] but its scratch space.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::learner::Learner;
use crate::container::{self, Kind};
use crate::forgetting::Forgetting;
use crate::{Error, Result};

impl Learner {
    /// The whole state. A learner made of it goes on with the same bits.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        container::write(Kind::OnlineLearner, self)
    }

    /// A learner from [`Learner::to_bytes`]; damaged bytes are refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Learner> {
        container::read(Kind::OnlineLearner, bytes)
    }

    /// Refuses a state that no learner can be in: its methods rely on these lengths and numbers.
    fn check_state(&self) -> Result<()> {
        self.params.check()?;
        let d = self.cols();
        let scale = self.iterate.weights.scale;
        let half_life = self.forgetting.as_ref().map(Forgetting::half_life);
        let sizes = self.sizes.as_ref();
        let fits = sizes.is_none_or(|sizes| sizes.fits(d, half_life.is_some()));
        let fits = fits && half_life == self.params.half_life;
        let fits = fits && self.means.as_ref().is_none_or(|means| means.fits(d));
        match fits && scale.is_finite() && scale != 0.0 {
            true => Ok(()),
            false => Err(Error::Numerical {
                what: "the state of an online learner holds impossible numbers",
            }),
        }
    }
}

impl Serialize for Learner {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Learner::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Learner {
    fn deserialize<D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Learner, D::Error> {
        let learner = Learner::deserialize(deserializer)?;
        learner.check_state().map_err(D::Error::custom)?;
        Ok(learner)
    }
}
