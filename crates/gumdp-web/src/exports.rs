//! The doors of the module: memory is asked for, filled with a question, and handed over; the answer is read and given back.

// Pointers come from another language; each is checked against nothing but the contract below.
#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::Studio;

thread_local! {
    static STUDIO: RefCell<Studio> = RefCell::new(Studio::default());
}

/// Memory for so many bytes, to be given to [`ask`] or back to [`give_back`].
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; bytes].into_boxed_slice()).cast()
}

/// Answers a question of so many bytes, which it takes. The answer begins with its length, four bytes, the lowest first; it is the
/// caller's to give back, length included.
///
/// # Safety
/// `question` is what [`room`] gave for as many bytes, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ask(question: *mut u8, bytes: usize) -> *mut u8 {
    // SAFETY: by the contract these bytes were made by `room` and are nobody else's.
    let question = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(question, bytes)) };
    let answer = STUDIO.with_borrow_mut(|studio| studio.ask(&String::from_utf8_lossy(&question)));
    let framed: Vec<u8> = (answer.len() as u32).to_le_bytes().into_iter().chain(answer.into_bytes()).collect();
    Box::into_raw(framed.into_boxed_slice()).cast()
}

/// Takes memory back.
///
/// # Safety
/// `memory` has so many bytes, was given by [`room`] or [`ask`], and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn give_back(memory: *mut u8, bytes: usize) {
    // SAFETY: by the contract these bytes were made here and are nobody else's.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(memory, bytes)) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_through_the_doors() {
        let text = br#"{"op":"gallery"}"#;
        let question = room(text.len());
        // SAFETY: as many bytes as were asked for; the answer tells its own length.
        let answer = unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), question, text.len());
            let answer = ask(question, text.len());
            let length = u32::from_le_bytes(*answer.cast::<[u8; 4]>()) as usize;
            let told = std::slice::from_raw_parts(answer.add(4), length).to_vec();
            give_back(answer, length + 4);
            told
        };
        assert!(String::from_utf8(answer).unwrap().contains("\"rooms\""));
    }
}
