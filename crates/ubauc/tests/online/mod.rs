//! ol-UBAUC: every step against dense algebra, every shortcut against the long way.

mod forgetting; // half-lives: by hand, without end, over many blocks
mod learner; // streams against the naive learner
mod naive; // the long way
mod one_step; // by hand, and the subproblem solved as a linear system
mod passes; // over data in memory
mod real_data; // the certified minimum is approached
mod state; // bytes
