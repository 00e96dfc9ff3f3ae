//! Risk measures.
