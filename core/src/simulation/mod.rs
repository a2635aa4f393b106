//! Stage 5: the engine, which joins senders, legs, links and receivers in simulated time.
