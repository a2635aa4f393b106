//! Stage 6: what links and flows are measured by.
