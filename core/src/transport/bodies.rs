//! What is in the packets of a connection while they are on their way.

/// Bodies by number. Numbers are used again, so that memory follows what is in flight, and so is what
/// a body holds allocated.
///
/// ```
/// use clift::transport::bodies::Bodies;
/// let mut bodies = Bodies::<Vec<u8>>::default();
/// bodies.prepare().extend(b"hello");
/// let number = bodies.keep();
/// assert_eq!(bodies[number], b"hello");
/// bodies.free(number);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Bodies<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T: Default> Bodies<T> {
    /// A body to be written in place; it holds what a former one held. It has a number only once
    /// [`Bodies::keep`] was called; until then the next call gives the same one. (In place, since a
    /// segment that is built elsewhere and copied here costs more than the rest of an event.)
    #[inline]
    pub fn prepare(&mut self) -> &mut T {
        let next = match self.free.last() {
            Some(&number) => number,
            None => self.grow(),
        };
        &mut self.slots[next as usize]
    }

    /// The number of the body that was prepared last, until it is freed.
    #[inline]
    pub fn keep(&mut self) -> u32 {
        match self.free.pop() {
            Some(number) => number,
            None => {
                let number = self.grow();
                self.free.pop();
                number
            }
        }
    }

    /// The body with this number is not needed any more.
    #[inline]
    pub fn free(&mut self, number: u32) {
        self.free.push(number);
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let number = self.slots.len() as u32;
        self.slots.push(T::default());
        self.free.push(number);
        number
    }
}

impl<T> std::ops::Index<u32> for Bodies<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: u32) -> &T {
        &self.slots[number as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Bodies<T> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.slots[number as usize]
    }
}
