//! Tests of what threads are and how they change.
