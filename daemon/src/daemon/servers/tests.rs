//! Servers as runs use them.
