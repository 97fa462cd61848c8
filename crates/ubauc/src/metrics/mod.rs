//! Scores and labels in, AUC and its statistics out. Plain slices; no other module is needed.
