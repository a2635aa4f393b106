//! Stage 1': models that make a PHY trace, alone or on top of one.
