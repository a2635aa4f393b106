//! The buffer and the clock of a player.

use crate::units::{Duration, Instant};

/// A player: it waits for content, plays, and waits again when the buffer is empty.
#[derive(Clone, Debug)]
pub(super) struct Player {
    start: Instant,
    segment: Duration,
    /// Content at which playback starts.
    startup: Duration,
    state: State,
    /// Whether all segments have arrived.
    is_complete: bool,
    began: Option<Instant>,
    /// Interruptions: playing time before each, and how long it lasted.
    stalls: Vec<(Duration, Duration)>,
    /// Playing time of the segments received.
    received: Duration,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Since an instant, with so much content.
    Waiting(Instant, Duration),
    /// The buffer is empty at this instant, unless a segment arrives.
    Playing(Instant),
    /// The video ended.
    Over,
}

/// What a user saw. `startup + stalled + played` is the time from the start until then, or until
/// the video ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Playback {
    /// Time from the start to the first picture; `None` if there was none.
    pub(super) startup: Option<Duration>,
    /// Interruptions: playing time before each, and how long it lasted.
    pub(super) stalls: Vec<(Duration, Duration)>,
    pub(super) played: Duration,
}

impl Playback {
    /// Total time of the interruptions.
    pub(super) fn stalled(&self) -> Duration {
        self.stalls.iter().fold(Duration::ZERO, |sum, &(_, lasted)| sum + lasted)
    }
}

impl Player {
    /// An empty player.
    pub(super) fn new(start: Instant, segment: Duration, startup: Duration) -> Self {
        Self {
            start,
            segment,
            startup,
            state: State::Waiting(start, Duration::ZERO),
            is_complete: false,
            began: None,
            stalls: Vec::new(),
            received: Duration::ZERO,
        }
    }

    /// Playing time of a segment.
    pub(super) fn segment(&self) -> Duration {
        self.segment
    }

    /// A segment arrives at `now`; `is_last`: no other one follows.
    pub(super) fn received(&mut self, now: Instant, is_last: bool) {
        // A segment that arrives as the buffer runs empty is in time.
        if matches!(self.state, State::Playing(empty) if empty < now) {
            self.advance(now);
        }
        self.received += self.segment;
        self.is_complete = is_last;
        self.state = match self.state {
            State::Waiting(since, content) => {
                let content = content + self.segment;
                if content < self.startup && !is_last {
                    State::Waiting(since, content)
                } else {
                    if self.began.is_none() {
                        self.began = Some(now);
                    } else if let Some((_, lasted)) = self.stalls.last_mut() {
                        *lasted = now.saturating_since(since);
                    }
                    State::Playing(now + content)
                }
            }
            State::Playing(empty) => State::Playing(empty + self.segment),
            State::Over => State::Over,
        };
    }

    /// Playback reaches `now`.
    pub(super) fn advance(&mut self, now: Instant) {
        if let State::Playing(empty) = self.state
            && empty <= now
        {
            self.state = if self.is_complete {
                State::Over
            } else {
                self.stalls.push((self.received, Duration::ZERO));
                State::Waiting(empty, Duration::ZERO)
            };
        }
    }

    /// Content of the buffer at `at`.
    pub(super) fn content(&self, at: Instant) -> Duration {
        match self.state {
            State::Waiting(_, content) => content,
            State::Playing(empty) => empty.saturating_since(at),
            State::Over => Duration::ZERO,
        }
    }

    /// First time from `now` on at which another segment fits into a buffer of `most`.
    pub(super) fn room_at(&self, now: Instant, most: Duration) -> Instant {
        match self.state {
            State::Playing(empty) => {
                let room = (empty + self.segment).saturating_since(Instant::ZERO + most);
                now.max(Instant::ZERO + room)
            }
            State::Waiting(..) | State::Over => now,
        }
    }

    /// When the buffer is empty unless a segment arrives, while the player plays.
    pub(super) fn end(&self) -> Option<Instant> {
        match self.state {
            State::Playing(empty) => Some(empty),
            State::Waiting(..) | State::Over => None,
        }
    }

    /// Whether the whole video has been played.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// What the user saw until `end`.
    pub(super) fn until(&self, end: Instant) -> Playback {
        let mut player = self.clone();
        player.advance(end);
        if let (State::Waiting(since, _), Some((_, lasted))) =
            (player.state, player.stalls.last_mut())
        {
            *lasted = end.saturating_since(since);
        }
        // Content in the buffer has not been played.
        let ahead = match player.state {
            State::Waiting(_, content) => content,
            State::Playing(empty) => empty.saturating_since(end),
            State::Over => Duration::ZERO,
        };
        Playback {
            startup: player.began.map(|began| began.saturating_since(player.start)),
            stalls: player.stalls,
            played: player.received - ahead,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(secs: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(secs)
    }

    /// Segments of 4 s; playback starts with two of them.
    fn player() -> Player {
        Player::new(at(1), Duration::from_secs(4), Duration::from_secs(8))
    }

    fn seen(startup: u64, stalls: &[(u64, u64)], played: u64) -> Playback {
        let secs = Duration::from_secs;
        let stalls = stalls.iter().map(|&(before, lasted)| (secs(before), secs(lasted)));
        Playback { startup: Some(secs(startup)), stalls: stalls.collect(), played: secs(played) }
    }

    #[test]
    fn the_player_starts_stalls_and_ends() {
        let mut player = player();
        player.received(at(3), false);
        assert_eq!((player.until(at(4)).startup, player.content(at(4)).as_secs_f64()), (None, 4.0));
        player.received(at(6), false); // plays until 14 s
        assert_eq!(player.until(at(7)), seen(5, &[], 1));
        player.received(at(14), false); // just in time: until 18 s
        assert_eq!(player.until(at(18)), seen(5, &[(12, 0)], 12));
        player.received(at(20), false); // one segment is not enough
        assert_eq!(player.until(at(21)), seen(5, &[(12, 3)], 12));
        player.received(at(23), true); // two are: until 31 s
        assert_eq!(player.until(at(25)), seen(5, &[(12, 5)], 14));
        assert_eq!((player.end(), player.is_over()), (Some(at(31)), false));
        player.advance(at(31));
        assert!(player.is_over());
        assert_eq!(player.until(at(99)), seen(5, &[(12, 5)], 20));
    }

    #[test]
    fn a_segment_is_requested_when_it_fits() {
        let (mut player, most) = (player(), Duration::from_secs(12));
        assert_eq!(player.room_at(at(1), most), at(1));
        player.received(at(2), false);
        player.received(at(2), false); // 8 s of content at 2 s
        assert_eq!(player.room_at(at(2), most), at(2));
        player.received(at(3), false); // empty at 14 s: 8 s are left at 6 s
        assert_eq!(player.room_at(at(3), most), at(6));
        assert_eq!(player.content(at(6)), Duration::from_secs(8));
    }

    proptest! {
        #[test]
        fn startup_stalls_and_play_make_up_the_time(
            gaps in prop::collection::vec(0u64..12, 1..40),
            rest in 0u64..30,
            is_whole in any::<bool>(),
        ) {
            let (mut player, mut now) = (player(), 1);
            for (index, gap) in gaps.iter().enumerate() {
                now += gap;
                player.received(at(now), is_whole && index + 1 == gaps.len());
                let end = at(now + rest);
                let seen = player.until(end);
                let (startup, played) = (seen.startup, seen.played);
                let all = startup.unwrap_or(end - at(1)) + seen.stalled() + played;
                let length = Duration::from_secs(4 * (index as u64 + 1));
                prop_assert!(played <= length);
                if played < length || !player.is_complete {
                    prop_assert_eq!(all, end - at(1));
                } else {
                    prop_assert!(all <= end - at(1));
                }
            }
        }
    }
}
